import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ApiResponse, Service } from './service.ts';

/** The OpenAPI document of the service. Tests derive cases from it, so that new operations and fields are covered too. */

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

export interface ResponseObject {
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
  responses: Record<string, ResponseObject>;
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
  /** The path template, such as /system/dept-api/{id}. */
  path: string;
  /** The schema of the request body, if any. */
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

/** Returns the error codes that the document lists for a response. */
export const reasonsIn = (response: ResponseObject | undefined): string[] =>
  (response?.content?.['application/json']?.schema.properties?.data?.properties?.reason?.enum ?? []) as string[];

const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
/** Validators by the text of their schema: most operations share their error schemas, and compiling one is slow. */
const validators = new Map<string, ReturnType<typeof ajv.compile>>();
const validatorBySchema = new WeakMap<Schema, ReturnType<typeof ajv.compile>>();

function validatorOf(schema: Schema): ReturnType<typeof ajv.compile> {
  const cached = validatorBySchema.get(schema);
  if (cached) return cached;
  const text = JSON.stringify(schema);
  const validate = validators.get(text) ?? ajv.compile(withoutAdditionalProperties(schema));
  validators.set(text, validate);
  validatorBySchema.set(schema, validate);
  return validate;
}

/** Asserts that the document describes the response: its status, headers and body, without additional fields. */
export function assertDocumented(operation: Operation, response: ApiResponse): void {
  const name = `${operation.method} ${operation.path} responded ${response.text}`;
  const documented = operation.responses[response.status];
  assert.ok(documented, `${name}: status ${response.status} is not documented`);
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  const schema = documented.content?.[type]?.schema;
  assert.ok(schema, `${name}: content type ${type} is not documented`);
  const validate = validatorOf(schema);
  validate(JSON.parse(response.text));
  assert.deepEqual(validate.errors ?? [], [], name);
  for (const header of Object.keys(documented.headers ?? {})) {
    // These headers are optional: the first is sent only with replayed responses, the second only to browsers.
    if (['Idempotent-Replayed', 'Set-Cookie'].includes(header)) continue;
    assert.ok(response.headers[header.toLowerCase()], `${name}: header ${header} is missing`);
  }
}

/** Returns the schema with additional properties forbidden. */
function withoutAdditionalProperties(schema: Schema): Schema {
  const { properties, items } = schema;
  return {
    ...schema,
    ...(items ? { items: withoutAdditionalProperties(items) } : {}),
    ...(properties
      ? {
          additionalProperties: schema.additionalProperties ?? false,
          properties: Object.fromEntries(
            Object.entries(properties).map(([key, inner]) => [key, withoutAdditionalProperties(inner)]),
          ),
        }
      : {}),
  };
}
