import cors from '@fastify/cors';
import type { App } from '../context.ts';

/** Lets pages of these origins call the service from a browser. By default the list is empty. */
export async function allowOrigins(app: App, origins: string[]): Promise<void> {
  if (origins.length === 0) return;
  await app.register(cors, {
    origin: origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    exposedHeaders: [
      'Accept-Patch',
      'Allow',
      'Content-Disposition',
      'ETag',
      'Idempotent-Replayed',
      'Location',
      'RateLimit',
      'RateLimit-Policy',
      'Retry-After',
      'X-Request-Id',
    ],
    maxAge: 600,
  });
}
