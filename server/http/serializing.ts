import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance } from 'fastify';

/**
 * Answers are written by their schemas, each made when it is first needed: refusals, most of all there are, are text
 * already, and all of them together would be a good part of the start.
 */
export function serializeBySchema(app: FastifyInstance): void {
  app.setSerializerCompiler((route) => {
    let serialize: Serialize | undefined;
    return (answer) => {
      serialize ??= serializerOf(route);
      return serialize(answer);
    };
  });
}

type Serialize = (answer: unknown) => string;

const compile = SerializerSelector()({}, {});
/** One for each schema in the process, however many services run in it. */
const serializers = new WeakMap<object, Serialize>();

function serializerOf(route: { schema: unknown }): Serialize {
  const schema = route.schema as object;
  const serialize = serializers.get(schema) ?? (compile(route as never) as Serialize);
  serializers.set(schema, serialize);
  return serialize;
}
