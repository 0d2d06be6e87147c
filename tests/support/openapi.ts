import assert from 'node:assert/strict';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { GENERAL_ERRORS } from '../../server/http/openapi.ts';
import type { ApiResponse, Service } from './service.ts';

/** The OpenAPI document of the service. Tests derive cases from it, so that new operations and fields are covered too. */

export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: unknown[];
  description?: string;
  format?: string;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  $ref?: string;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface ResponseObject {
  description: string;
  headers?: Record<string, { description?: string; schema: Schema }>;
  content?: Record<string, { schema: Schema }>;
}

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  schema: Schema;
}

interface OperationObject {
  operationId: string;
  summary: string;
  tags: string[];
  security?: Record<string, string[]>[];
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Schema; example?: unknown }> };
  responses: Record<string, ResponseObject>;
}

export interface Document {
  openapi: string;
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  /** Operations by method. `parameters` are those that all operations of the path have. */
  paths: Record<string, Record<string, OperationObject> & { parameters?: Parameter[] }>;
  components: {
    securitySchemes: Record<string, { type: string; scheme: string }>;
    schemas: Record<string, Schema>;
    responses: Record<string, ResponseObject>;
    headers: Record<string, unknown>;
    parameters: Record<string, unknown>;
  };
}

export interface Operation extends OperationObject {
  method: string;
  /** The path template, such as /system/dept-api/{id}. */
  path: string;
  /** The schema of the request body, if any. */
  body: Schema | undefined;
  document: Document;
}

/** A value and not a promise, as in service.ts. */
let stored: Document | undefined;

/**
 * Reads the document from the first service that is asked for it: it takes a while to build, and no setting changes it. Files of
 * a process also share the validators of its schemas.
 */
export async function readDocument(service: Service): Promise<Document> {
  if (!stored) {
    const { status, text } = await service.anonymous.get('/openapi.json');
    assert.equal(status, 200);
    stored = JSON.parse(text) as Document;
  }
  return stored;
}

/** Returns all operations. References are replaced by what they refer to, except in the schemas of responses. */
export const operationsOf = (document: Document): Operation[] =>
  Object.entries(document.paths).flatMap(([path, { parameters: shared = [], ...methods }]) =>
    Object.entries<OperationObject>(methods).map(([method, operation]) => {
      const body = operation.requestBody?.content['application/json']?.schema;
      return {
        ...operation,
        parameters: [...shared, ...(operation.parameters ?? [])].map((each) => {
          const parameter = resolve(document, each);
          return { ...parameter, schema: inline(document, parameter.schema) };
        }),
        responses: mapValues(operation.responses, (response) => {
          const { headers, ...rest } = resolve(document, response);
          const resolved = headers && { headers: mapValues(headers, (header) => resolve(document, header)) };
          return { ...rest, ...resolved };
        }),
        method: method.toUpperCase(),
        path,
        body: body && inline(document, body),
        document,
      };
    }),
  );

const mapValues = <T>(record: Record<string, T>, map: (value: T) => T): Record<string, T> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, map(value)]));

function resolve<T>(document: Document, value: T): T {
  const { $ref } = value as { $ref?: string };
  if ($ref === undefined) return value;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce((node, key) => (node as Record<string, unknown>)[key], document as unknown);
  assert.ok(target, `${$ref} does not exist`);
  // A reference may replace the description.
  const { description } = value as { description?: string };
  return description === undefined ? (target as T) : { ...(target as T), description };
}

/** Replaces references at any depth, and merges the parts of `allOf`. The schemas of requests contain no cycles. */
function inline(document: Document, schema: Schema): Schema {
  const { items, properties, allOf, ...rest } = resolve(document, schema);
  const parts = (allOf ?? []).map((part) => inline(document, part));
  const own = properties && mapValues(properties, (inner) => inline(document, inner));
  const all = [...parts, { ...rest, ...(own ? { properties: own } : {}) }];
  const required = all.flatMap((part) => part.required ?? []);
  return {
    ...Object.assign({}, ...all),
    ...(items ? { items: inline(document, items) } : {}),
    ...(required.length > 0 ? { required: [...new Set(required)] } : {}),
    ...(all.some((part) => part.properties)
      ? { properties: Object.assign({}, ...all.map((part) => part.properties)) }
      : {}),
  };
}

/** The tags of operations whose form a standard fixes. Their responses have no envelope, and they have tests of their own. */
const STANDARD_TAGS = ['OAuth'];

/** Whether the responses of an operation have our envelope and our errors. */
export const hasEnvelope = ({ tags }: Operation) => !STANDARD_TAGS.includes(tags[0] as string);

/** Reads the operations whose responses have our envelope. */
export const readOperations = async (service: Service) => operationsOf(await readDocument(service)).filter(hasEnvelope);

/** Returns the error codes that the document lists for a response: in the schema, or if that allows any, in the description. */
export function reasonsIn(response: ResponseObject | undefined): string[] {
  const schema = response?.content?.['application/json']?.schema;
  if (schema?.$ref === '#/components/schemas/Error') return codesIn(response?.description);
  return (schema?.allOf?.[1]?.properties?.data?.properties?.reason?.enum ?? []) as string[];
}

/** The codes that the first line of a description lists. */
const codesIn = (description = ''): string[] =>
  [...(description.split('\n')[0] ?? '').matchAll(/`(\w+)`/g)].map(([, code]) => code as string);

/** Returns the schema that the document gives for the data of a success. */
export const dataOf = (response: ResponseObject | undefined): Schema | undefined => {
  const [envelope, own] = response?.content?.['application/json']?.schema.allOf ?? [];
  return envelope?.$ref === '#/components/schemas/Ok' ? own?.properties?.data : undefined;
};

type Validate = ReturnType<Ajv2020['compile']>;
/** The components of each document, and validators by the text of their schema: compiling one is slow. */
const compilers = new WeakMap<Document, { ajv: Ajv2020; validators: Map<string, Validate> }>();

function validatorOf(document: Document, schema: Schema): Validate {
  let compiler = compilers.get(document);
  if (!compiler) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
    const { schemas } = document.components;
    ajv.addSchema({ $id: 'closed', components: { schemas: mapValues(schemas, (each) => closed(each)) } });
    ajv.addSchema({ $id: 'part', components: { schemas: mapValues(schemas, (each) => part(each)) } });
    compiler = { ajv, validators: new Map() };
    compilers.set(document, compiler);
  }
  const text = JSON.stringify(schema);
  const validate = compiler.validators.get(text) ?? compiler.ajv.compile(closed(schema));
  compiler.validators.set(text, validate);
  return validate;
}

/** Returns the schema with additional properties forbidden, at any depth. */
function closed(schema: Schema): Schema {
  const { $ref, properties, items, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...($ref ? { $ref: `closed${$ref}` } : {}),
    ...(items ? { items: closed(items) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(closed) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(closed) } : {}),
    ...(allOf ? { allOf: allOf.map(part), unevaluatedProperties: false } : {}),
    ...(properties
      ? {
          additionalProperties: schema.additionalProperties ?? false,
          properties: mapValues(properties, closed),
        }
      : {}),
  };
}

/**
 * Returns a part of an `allOf`. Additional properties stay allowed in the part, because other parts define some; only the schemas
 * of its properties are closed. A property's schema without a type only narrows the one in another part, and is closed there.
 */
function part(schema: Schema): Schema {
  const { $ref, properties, allOf, anyOf, oneOf } = schema;
  return {
    ...schema,
    ...($ref ? { $ref: `part${$ref}` } : {}),
    ...(allOf ? { allOf: allOf.map(part) } : {}),
    ...(anyOf ? { anyOf: anyOf.map(part) } : {}),
    ...(oneOf ? { oneOf: oneOf.map(part) } : {}),
    ...(properties
      ? {
          properties: mapValues(properties, (value) => (value.properties && !value.type ? part(value) : closed(value))),
        }
      : {}),
  };
}

/** Codes that do not depend on the operation: operations do not list them. */
const SHARED_CODES: ReadonlySet<string> = new Set(GENERAL_ERRORS.authenticated);

/** Asserts that the document describes the response: its status, headers and body, without additional fields. */
export function assertDocumented(operation: Operation, response: ApiResponse): void {
  const name = `${operation.method} ${operation.path} responded ${response.text}`;
  const documented = operation.responses[response.status] ?? operation.responses.default;
  assert.ok(documented, `${name}: status ${response.status} is not documented`);
  const [type = ''] = (response.headers['content-type'] ?? '').split(';');
  // Any error may be sent as problem details; the document says so once.
  const schema = (documented.content?.[type] ?? operation.responses.default?.content?.[type])?.schema;
  assert.ok(schema, `${name}: content type ${type} is not documented`);
  const validate = validatorOf(operation.document, schema);
  // A file is not JSON.
  const body = /\bjson$/.test(type) ? JSON.parse(response.text) : response.text;
  validate(body);
  assert.deepEqual(validate.errors ?? [], [], name);
  if (schema.$ref === '#/components/schemas/Error') {
    const { reason } = body.data;
    assert.ok(codesIn(documented.description).includes(reason) || SHARED_CODES.has(reason), `${name}: not documented`);
  }
  for (const header of Object.keys(documented.headers ?? {})) {
    // These headers are optional: the first is sent only with replayed responses, the second only to browsers.
    if (['Idempotent-Replayed', 'Set-Cookie'].includes(header)) continue;
    if (header === 'Retry-After' && response.status !== 503 && response.status !== 429) continue;
    if (header === 'WWW-Authenticate' && response.status !== 401) continue;
    assert.ok(response.headers[header.toLowerCase()], `${name}: header ${header} is missing`);
  }
}
