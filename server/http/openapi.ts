import Type, { type TSchema } from 'typebox';
import { DEFAULT_STATUSES, type DeclaredErrors, header, replayedHeader } from './error-responses.ts';
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
  /** An operation that writes accepts an Idempotency-Key; a `conditional` one accepts If-Match too. */
  writes?: 'unconditional' | 'conditional';
  /** The operation requires a body. */
  body?: boolean;
  /** The operation ignores unknown query parameters. */
  ignoresUnknownParameters?: boolean;
}

const commonErrors: ErrorCode[] = [
  'BAD_REQUEST',
  'ADDRESS_NOT_ENCODED',
  'INVALID_UTF8',
  'INVALID_FIELD',
  'HEADERS_TOO_LARGE',
  'INTERNAL',
  'TOO_BUSY',
];
const databaseErrors: ErrorCode[] = ['DATABASE_AWAY'];
/** Every write parses its body, even if it requires none. */
const bodyErrors: ErrorCode[] = ['INVALID_JSON', 'FORBIDDEN_KEY', 'BODY_TOO_LARGE', 'NOT_JSON', 'REQUEST_TIMEOUT'];
const requiredBodyErrors: ErrorCode[] = [...bodyErrors, 'BODY_REQUIRED', 'FIELD_REQUIRED'];
const tokenErrors: ErrorCode[] = [
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
];

const errorCodes = Object.keys(errorCatalog) as ErrorCode[];

/** Codes that most operations have. They do not become part of the name of a response. */
export const COMMON_CODES = new Set<ErrorCode>([
  ...commonErrors,
  ...databaseErrors,
  ...bodyErrors.filter((code) => !['INVALID_JSON', 'FORBIDDEN_KEY'].includes(code)),
  ...tokenErrors,
  'UNKNOWN_PARAMETER',
  'PASSWORD_CHANGE_REQUIRED',
  'NOT_ALLOWED',
  'KEY_REUSED',
  'CHANGED_MEANWHILE',
]);

/**
 * `authenticated` operations require an access token, and `session` operations too, but users who must change their password
 * may use them. `static` operations need neither a token nor the database.
 */
type OperationKind = 'authenticated' | 'session' | 'public' | 'static';

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
    body = false,
    ignoresUnknownParameters = false,
  }: ResponseOptions,
) {
  const all = [
    ...commonErrors,
    ...(ignoresUnknownParameters ? [] : (['UNKNOWN_PARAMETER'] as const)),
    ...(kind === 'static' ? [] : databaseErrors),
    ...(body ? requiredBodyErrors : []),
    ...(kind === 'authenticated' || kind === 'session' ? tokenErrors : []),
    ...(kind === 'authenticated' ? (['PASSWORD_CHANGE_REQUIRED', 'NOT_ALLOWED'] as const) : []),
    ...(writes ? ([...bodyErrors, 'KEY_REUSED'] as const) : []),
    ...(writes === 'conditional' ? (['CHANGED_MEANWHILE'] as const) : []),
    ...own,
  ];
  const byStatus = new Map<number | 'default', ErrorCode[]>();
  // In the order of the catalogue, so that operations with the same errors share a response.
  for (const code of errorCodes.filter((code) => all.includes(code))) {
    const status = DEFAULT_STATUSES.has(errorCatalog[code][0]) ? 'default' : errorCatalog[code][0];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  return {
    200: {
      description: 'OK',
      headers: {
        ...(location ? { Location: header('Path of the new resource') } : {}),
        ...(etag ? { ETag: etagHeader } : {}),
        ...(cookie ? { 'Set-Cookie': header('Sets or clears the session cookie of browsers') } : {}),
        ...(writes ? { 'Idempotent-Replayed': replayedHeader } : {}),
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
      [...byStatus].map(([status, codes]): [number | 'default', { 'x-errors': DeclaredErrors }] => [
        status,
        { 'x-errors': { status, codes, alternative } },
      ]),
    ),
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
