import Type, { type TSchema } from 'typebox';
import { type DeclaredErrors, header, type OperationKind } from './error-responses.ts';
import { type alternativeTexts, type ErrorCode, errorCatalog } from './errors.ts';

/** The content types of spreadsheet files, by format. */
export const FILE_TYPES = {
  xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
  csv: 'text/csv; charset=utf-8',
};

interface ResponseOptions {
  /** The schema of `data`; by default `data` is null. */
  data?: TSchema;
  /** The response is a stream of server-sent events with this schema; with `data`, only if the client asks for it. */
  events?: TSchema;
  /** The response is a spreadsheet file. */
  file?: boolean;
  /** The response has the path of the new record in `Location`. */
  location?: boolean;
  /** The errors of this operation, in addition to those that all operations have. */
  errors?: ErrorCode[];
  /** The errors that have their alternative text in this operation. */
  alternativeTexts?: (keyof typeof alternativeTexts)[];
  /** The response has the `ETag` of the record, and `If-None-Match` is accepted. */
  etag?: boolean;
  /** The response may set or clear the session cookie. */
  cookie?: boolean;
  /**
   * Set for operations that write. A `conditional` one accepts If-Match, and so has the error CHANGED_MEANWHILE; `unconditional`
   * adds nothing. The request headers are declared with the route (etag.ts).
   */
  writes?: 'unconditional' | 'conditional';
}

/**
 * The errors that do not depend on the operation: of the connection, the syntax of the request, the token, a limit on requests
 * or the service. They share the response `default`.
 */
const publicErrors: ErrorCode[] = [
  'BAD_REQUEST',
  'ADDRESS_NOT_ENCODED',
  'INVALID_UTF8',
  'INVALID_FIELD',
  'UNKNOWN_PARAMETER',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'TOO_BUSY',
  'DATABASE_AWAY',
  'INVALID_JSON',
  'FORBIDDEN_KEY',
  'BODY_REQUIRED',
  'FIELD_REQUIRED',
  'BODY_TOO_LARGE',
  'NOT_JSON',
  'REQUEST_TIMEOUT',
];
const authenticatedErrors: ErrorCode[] = [
  ...publicErrors,
  'KEY_REUSED',
  'NO_TOKEN',
  'INVALID_TOKEN',
  'TOKEN_EXPIRED',
  'SESSION_ENDED',
  'USER_DELETED',
  'TENANT_DELETED',
  'USER_DISABLED',
  'TENANT_DISABLED',
  'TENANT_NOT_STARTED',
  'TENANT_ENDED',
  'INVALID_KEY',
  'KEY_EXPIRED',
  'KEY_DISABLED',
  'KEY_ADDRESS_REFUSED',
  'TOO_MANY_REQUESTS',
  'PASSWORD_CHANGE_REQUIRED',
  'NOT_ALLOWED',
  'OTHER_TENANT',
];
export const GENERAL_ERRORS: Record<OperationKind, ErrorCode[]> = {
  public: publicErrors,
  authenticated: authenticatedErrors,
};

const errorCodes = Object.keys(errorCatalog) as ErrorCode[];

/** The responses of an operation, for the OpenAPI document and the serializer. */
export function responses(
  kind: OperationKind,
  {
    data,
    location,
    etag,
    cookie,
    writes,
    events,
    file = false,
    errors: own = [],
    alternativeTexts: alternative = [],
  }: ResponseOptions,
) {
  const general = GENERAL_ERRORS[kind];
  const listed = [...own, ...(writes === 'conditional' ? (['CHANGED_MEANWHILE'] as const) : [])].filter(
    (code) => !general.includes(code),
  );
  const statusOf = (code: ErrorCode) => errorCatalog[code][0];
  const statuses = [...new Set(listed.map(statusOf))].sort((a, b) => a - b);
  const declare = (status: number | 'default', codes: ErrorCode[], ownCodes: ErrorCode[]) => ({
    // In the order of the catalog, so that operations with the same errors share a response.
    'x-errors': { status, kind, codes: errorCodes.filter((code) => codes.includes(code)), own: ownCodes, alternative },
  });
  return {
    200: {
      description: 'OK',
      headers: {
        ...(location ? { Location: header('Path of the new resource') } : {}),
        ...(etag ? { ETag: etagHeader } : {}),
        ...(cookie ? { 'Set-Cookie': header('Sets or clears the session cookie of browsers') } : {}),
        ...(file ? { 'Content-Disposition': header('The name of the file') } : {}),
      },
      ...(file ? { content: fileContent } : {}),
      ...(events
        ? {
            content: {
              ...(data ? { 'application/json': { schema: success(data) } } : {}),
              'text/event-stream': { schema: events },
            },
          }
        : file
          ? {}
          : success(data)),
    },
    ...(etag ? { 304: notModified } : {}),
    ...Object.fromEntries(
      statuses.map((status): [number, { 'x-errors': DeclaredErrors }] => {
        const ownCodes = errorCodes.filter((code) => listed.includes(code) && statusOf(code) === status);
        return [
          status,
          declare(status, [...ownCodes, ...general.filter((code) => statusOf(code) === status)], ownCodes),
        ];
      }),
    ),
    default: declare('default', general, []),
  };
}

const fileContent = Object.fromEntries(
  Object.values(FILE_TYPES).map((type) => [type.split(';')[0], { schema: { type: 'string', format: 'binary' } }]),
);

const success = (data: TSchema = Type.Null()) =>
  Type.Object({ code: Type.Literal(200), msg: Type.Literal('操作成功'), data }, { 'x-success': true });

export const etagHeader = header('Version of the record, for If-Match and If-None-Match');
export const notModified = {
  type: 'null',
  description: 'Not modified: the version in `If-None-Match` is current',
  headers: { ETag: etagHeader },
};
