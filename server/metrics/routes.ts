import type { App } from '../context.ts';
import { CONTENT_TYPE, type Scrape } from './scraping.ts';

/**
 * Serves metrics on the main listener (BANYAN_METRICS=1). They need no token, as they contain nothing about individual tenants,
 * and no request slot, like health checks. They are for operators and not part of the API, so the OpenAPI document leaves them
 * out.
 */
export function metricsRoutes(app: App, scrape: Scrape): void {
  app.get('/metrics', { config: { needsNoSlot: true }, schema: { hide: true } }, async (_request, reply) => {
    const text = await scrape();
    return reply.type(CONTENT_TYPE).send(text);
  });
}
