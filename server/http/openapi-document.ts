import { type Components, extractSchemas, RepeatedObjects } from './components.ts';
import { type DeclaredErrors, describeErrors, errorResponseName, errorSchemas } from './error-responses.ts';

export interface GeneratedDocument {
  paths: Record<string, Record<string, GeneratedOperation>>;
  components: { securitySchemes: unknown };
}
interface GeneratedOperation {
  parameters?: { name: string; required?: boolean }[];
  requestBody?: {
    required?: boolean;
    description?: string;
    content: Record<string, { schema: { description?: string; 'x-optional'?: boolean } }>;
  };
  responses: Record<string, Generated>;
}
interface Generated {
  headers?: Record<string, unknown>;
  content?: Record<string, { schema: GeneratedSchema }>;
}
interface GeneratedSchema {
  'x-errors'?: DeclaredErrors;
  'x-success'?: true;
  description?: string;
  properties?: { data: unknown };
}

/** Renders the declared errors, and moves everything that operations share to `components`. */
export function shareComponents(generated: GeneratedDocument): object {
  for (const operation of operationsOf(generated)) {
    const { requestBody: body } = operation;
    // The description of the request body repeats that of the schema.
    for (const { schema } of Object.values(body?.content ?? {})) delete schema.description;
    // false is the default.
    if (body?.content['application/json']?.schema['x-optional']) delete body.required;
    for (const [status, response] of Object.entries(operation.responses)) {
      const json = response.content?.['application/json'];
      const declared = json?.schema['x-errors'];
      if (declared) {
        operation.responses[status] = { ...describeErrors(declared), 'x-errors': declared } as object;
        continue;
      }
      if (Object.keys(response.headers ?? {}).length === 0) delete response.headers;
      if (json?.schema['x-success']) json.schema = describeSuccess(json.schema.properties?.data) as GeneratedSchema;
      // The description of the response repeats that of the schema.
      else if (json) delete json.schema.description;
    }
  }
  const components: Components = { schemas: {}, responses: {}, headers: {}, parameters: {} };
  const document = extractSchemas(
    { ...generated, shared: { ...errorSchemas, Ok } },
    components.schemas,
  ) as GeneratedDocument & { shared?: object };
  Object.assign(components.schemas, document.shared);
  delete document.shared;
  const [headers, parameters, shared] = [new RepeatedObjects(), new RepeatedObjects(), new RepeatedObjects()];
  for (const { parameters: sent = [], responses } of operationsOf(document)) {
    for (const [n, parameter] of sent.entries()) {
      // false is the default.
      if (!parameter.required) delete parameter.required;
      parameters.add(toComponentName(parameter.name), sent, String(n));
    }
    for (const { headers: returned = {} } of Object.values(responses)) {
      for (const name of Object.keys(returned)) headers.add(name, returned, name);
    }
  }
  headers.moveTo(components, 'headers');
  parameters.moveTo(components, 'parameters');
  const errors: { responses: Record<string, Generated>; status: string }[] = [];
  for (const { responses } of operationsOf(document)) {
    for (const [status, response] of Object.entries(responses)) {
      const { 'x-errors': declared, ...shown } = response as Generated & { 'x-errors'?: DeclaredErrors };
      responses[status] = shown;
      if (declared) errors.push({ responses, status });
      const success = status === '304' ? 'NotModified' : (oauthErrorName(status, shown) ?? successName(shown));
      const name = declared ? errorResponseName(declared) : success;
      if (name)
        shared.add(name, responses, status, declared?.status === 'default' ? 1 : declared ? MIN_USES_OF_ERRORS : 2);
    }
  }
  shared.moveTo(components, 'responses');
  for (const { responses, status } of errors) {
    const { description } = responses[status] as Generated & { description?: string };
    if (description === undefined) continue;
    components.responses.Error ??= anyError;
    responses[status] = { $ref: '#/components/responses/Error', description } as Generated;
  }
  // Linters expect a response for client errors (4xx).
  for (const { responses } of operationsOf(document)) {
    if (!Object.keys(responses).some((status) => status.startsWith('4')) && responses.default)
      responses[400] = responses.default;
  }
  shareFields({ paths: document.paths, components }, components);
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, methods]) => [path, shareParameters(methods)]),
  );
  return { ...document, paths, components: { ...document.components, ...components } };
}

/** Moves the parameters that all operations of a path share to the path itself. */
function shareParameters(methods: Record<string, GeneratedOperation>): object {
  const operations = Object.values(methods);
  const hasSame = (wanted: string) => (operation: GeneratedOperation) =>
    (operation.parameters ?? []).some((parameter) => JSON.stringify(parameter) === wanted);
  const shared = (operations[0]?.parameters ?? []).filter((parameter) =>
    operations.every(hasSame(JSON.stringify(parameter))),
  );
  if (operations.length === 1 || shared.length === 0) return methods;
  const texts = shared.map((parameter) => JSON.stringify(parameter));
  for (const operation of operations) {
    operation.parameters = (operation.parameters ?? []).filter(
      (parameter) => !texts.includes(JSON.stringify(parameter)),
    );
    if (operation.parameters.length === 0) delete operation.parameters;
  }
  return { parameters: shared, ...methods };
}

/** Moves the schemas of fields to components where that makes the document smaller. Each is named after the field. */
function shareFields(value: unknown, components: Components): void {
  const fields = new RepeatedObjects();
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as { properties?: Record<string, unknown> };
    for (const [name, field] of Object.entries(properties ?? {})) {
      // Generators have a type of their own for files.
      if ('contentMediaType' in (field as object)) continue;
      const bytes = JSON.stringify(field).length;
      const saved = bytes - FIELD_REFERENCE_BYTES - name.length;
      if (saved > 0) fields.add(toComponentName(name), properties as object, name, Math.floor(bytes / saved) + 1);
    }
    for (const inner of Object.values(node)) visit(inner);
  };
  visit(value);
  fields.moveTo(components, 'schemas');
}
const FIELD_REFERENCE_BYTES = '{"$ref":"#/components/schemas/"}'.length;

/** Errors that fewer operations share have a response that allows all codes, with those of the operation in its description. */
const MIN_USES_OF_ERRORS = 5;
const anyError = {
  description: 'Each operation lists its codes',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};
/** The envelope of all successes. Each response adds the schema of its `data`. */
const Ok = {
  type: 'object',
  required: ['code', 'msg'],
  properties: { code: { type: 'integer', enum: [200] }, msg: { type: 'string', enum: ['操作成功'] } },
};
const describeSuccess = (data: unknown) => ({
  allOf: [{ 'x-ref': 'Ok' }, { required: ['data'], properties: { data } }],
});

/**
 * Names a success by the schemas of its data and by its headers. Returns undefined for data that is not null and contains no
 * named schema: such a response is not shared.
 */
const successName = ({ headers = {}, content = {} }: Generated): string | undefined => {
  if ('text/csv' in content) return 'Spreadsheet';
  const text = JSON.stringify(content);
  const isDone = text.includes('"data":{"type":"null"}');
  const schemas = [...text.matchAll(/schemas\/(?!Ok")(\w+)"/g)].map(([, name]) => name as string);
  if (!isDone && schemas.length === 0) return undefined;
  return [isDone ? 'Done' : 'Ok', ...schemas, ...Object.keys(headers)].join('').replaceAll('-', '');
};

/** Names an error of the operations that the OAuth standards describe (server/oauth). */
const oauthErrorName = (status: string, { content = {} }: Generated): string | undefined =>
  JSON.stringify(content).includes('schemas/OAuthError"')
    ? `OAuthError${status.replace('default', 'Other')}`
    : undefined;

const operationsOf = ({ paths }: GeneratedDocument) => Object.values(paths).flatMap((path) => Object.values(path));

/** `idempotency-key` becomes `IdempotencyKey`. */
const toComponentName = (name: string) => name.replace(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
