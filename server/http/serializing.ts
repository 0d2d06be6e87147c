import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance } from 'fastify';

/**
 * Answers are written by their schemas, each made when it is first needed: refusals, most of all there are, are text
 * already, and all of them together would be a good part of the start.
 */
export function serializeBySchema(app: FastifyInstance): void {
  const compile = SerializerSelector()({}, {});
  app.setSerializerCompiler((route) => {
    let serialize: ReturnType<typeof compile> | undefined;
    return (answer) => {
      serialize ??= compile(route as never);
      return serialize(answer);
    };
  });
}
