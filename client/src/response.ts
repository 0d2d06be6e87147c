import { ApiError, NetworkError, OAuthError } from './errors.ts';
import type { Reason } from './generated/operations.ts';
import type { Operation } from './operation.ts';
import { parseRetryAfter } from './retry.ts';

export interface Result<Data = unknown, Id = string | null, Etag = string | null> {
  data: Data;
  /** The id of the record that the call created. */
  id: Id;
  /** The version of the record, for `ifMatch` of a later write. */
  etag: Etag;
  headers: Headers;
}

export interface Envelope {
  code: number;
  msg: string;
  data: unknown;
}

/** Event streams and spreadsheets. */
const STREAMED = /^(text\/(event-stream|csv)|application\/vnd\.)/;

/** Reads a response. Throws the error that it contains, or a NetworkError if it does not come from the service. */
export async function readResponse(operation: Operation, response: Response): Promise<Result> {
  const { headers } = response;
  const result = (data: unknown): Result => ({
    data,
    id: headers.get('location')?.split('/').at(-1) ?? null,
    etag: headers.get('etag'),
    headers,
  });
  // The caller reads streams and files. Other types, such as an HTML page, do not come from the service.
  if (response.ok && STREAMED.test(headers.get('content-type') ?? '')) return result(response);
  const body = parseJson(await response.text());
  if (isEnvelope(body)) return result(openEnvelope(body, headers));
  if (operation.response === 'json' && typeof body === 'object' && body !== null) {
    if (response.ok) return result(body);
    const { error, error_description = '' } = body as { error?: string; error_description?: string };
    if (error) throw new OAuthError(response.status, error, error_description);
  }
  throw new NetworkError(`The response does not come from the service (status ${response.status}).`);
}

/** Returns undefined for text that is not JSON: it comes from a proxy, not from the service. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const isEnvelope = (body: unknown): body is Envelope => typeof (body as Envelope | null)?.code === 'number';

/**
 * Returns the data of an envelope, or throws its error. It compares the envelope's code, not the HTTP status: the service can be
 * configured to send errors with status 200.
 */
export function openEnvelope({ code, msg, data }: Envelope, headers: Headers): unknown {
  if (code === 200) return data;
  const { reason = 'INTERNAL', ...details } = (data ?? {}) as { reason?: Reason };
  throw new ApiError(code, reason, msg, details, parseRetryAfter(headers.get('retry-after')));
}
