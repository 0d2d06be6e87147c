import { SerializerSelector } from '@fastify/fast-json-stringify-compiler';
import type { FastifyInstance } from 'fastify';

/**
 * Compiles the serializer of a response schema when it is first used. Compiling all of them would take a large part of the
 * startup time, and most are never used: error responses are serialized already.
 */
export function serializeLazily(app: FastifyInstance): void {
  app.setSerializerCompiler((route) => {
    let serialize: Serialize | undefined;
    return (response) => {
      serialize ??= serializerOf(route);
      return serialize(response);
    };
  });
}

type Serialize = (response: unknown) => string;

const compile = SerializerSelector()({}, {});
/** Shared by all services in the process, so that each schema is compiled once. */
const serializers = new WeakMap<object, Serialize>();

function serializerOf(route: { schema: unknown }): Serialize {
  const schema = route.schema as object;
  const serialize = serializers.get(schema) ?? (compile(route as never) as Serialize);
  serializers.set(schema, serialize);
  return serialize;
}
