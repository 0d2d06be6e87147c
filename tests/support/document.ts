import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { Answer, Service } from './service.ts';

/** What the service says of itself at /openapi.json, as tests need it: so that a new operation or field is tested too. */

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean;
}

export interface Documented {
  description: string;
  headers?: Record<string, { description?: string; schema: Schema }>;
  content?: Record<string, { schema: Schema }>;
}

interface OperationObject {
  operationId: string;
  summary: string;
  tags: string[];
  security?: Record<string, string[]>[];
  parameters?: { name: string; in: string; required: boolean; schema: Schema }[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> };
  responses: Record<string, Documented>;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, OperationObject>>;
  components: { securitySchemes: Record<string, { type: string; scheme: string }> };
}

export interface Operation extends OperationObject {
  method: string;
  /** As the document writes it: /system/dept-api/{id}. */
  path: string;
  /** The schema of the body it takes, if any. */
  body: Schema | undefined;
}

export async function readDocument(service: Service): Promise<Document> {
  const { status, text } = await service.anonymous.get('/openapi.json');
  assert.equal(status, 200);
  return JSON.parse(text);
}

export const operationsOf = (document: Document): Operation[] =>
  Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...operation,
      method: method.toUpperCase(),
      path,
      body: operation.requestBody?.content['application/json']?.schema,
    })),
  );

export const readOperations = async (service: Service) => operationsOf(await readDocument(service));

/** The reasons that the document names for a status of an operation. */
export const reasonsIn = (response: Documented | undefined): string[] =>
  (response?.content?.['application/json']?.schema.properties?.data?.properties?.reason?.enum ?? []) as string[];

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
/** By the text of the schema: most operations have the same errors, and compiling takes much longer than validating. */
const validators = new Map<string, ReturnType<typeof ajv.compile>>();
const known = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

function validatorOf(schema: Schema): ReturnType<typeof ajv.compile> {
  const before = known.get(schema);
  if (before) return before;
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(closed(schema));
  validators.set(text, validate);
  known.set(schema, validate);
  return validate;
}

/** Fails unless the answer is one that the document describes: status, headers, body, and no field beyond. */
export function assertDocumented(operation: Operation, answer: Answer): void {
  const name = `${operation.method} ${operation.path} answered ${answer.text}`;
  const documented = operation.responses[answer.status];
  assert.ok(documented, `${name}: its document has no ${answer.status}`);
  const [type = ''] = (answer.headers['content-type'] ?? '').split(';');
  const schema = documented.content?.[type]?.schema;
  assert.ok(schema, `${name}: its document has no ${type}`);
  const validate = validatorOf(schema);
  validate(JSON.parse(answer.text));
  assert.deepEqual(validate.errors ?? [], [], name);
  for (const header of Object.keys(documented.headers ?? {})) {
    // Only on what is told again; only for browsers.
    if (['Idempotent-Replayed', 'Set-Cookie'].includes(header)) continue;
    assert.ok(answer.headers[header.toLowerCase()], `${name}: without ${header}`);
  }
}

/** The same schema, letting nothing pass that it does not name. */
function closed(schema: Schema): Schema {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(items ? { items: closed(items) } : {}),
    ...(properties
      ? {
          additionalProperties: schema.additionalProperties ?? false,
          properties: Object.fromEntries(Object.entries(properties).map(([key, inner]) => [key, closed(inner)])),
        }
      : {}),
  };
}
