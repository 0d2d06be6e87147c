import { markOffline, markOnline } from './connection.ts';
import { getLanguage } from './language.ts';

/** An error response of the service, with its error code and its message in the current language. */
export class ApiError extends Error {
  override name = 'ApiError';
  readonly status: number;
  /** The `reason` field of the response. */
  readonly code: string;
  /** The details of the error, such as `deptIds`. */
  readonly data: Record<string, unknown>;

  constructor(status: number, code: string, message: string, data: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.code = code;
    this.data = data;
  }
}

/** No response from the service: there is no network, the service is down, or a proxy cannot reach it. */
export class NetworkError extends Error {
  override name = 'NetworkError';
}

export const isApiError = (error: unknown, code: string): error is ApiError =>
  error instanceof ApiError && error.code === code;

export interface ApiResponse<T> {
  data: T;
  /** For If-Match; empty if the service sent none. */
  etag: string;
  /** The id of the record that the request created, from the Location header. */
  createdId: string;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface RequestOptions {
  query?: Query | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Lets the request complete even if the page is closed meanwhile. */
  keepalive?: boolean;
}

/** A file that the service sent as an attachment. */
export interface DownloadedFile {
  blob: Blob;
  name: string;
}

/** Sends one request and unwraps the response envelope. An attachment becomes a `DownloadedFile`. */
export async function sendRequest<T>(
  method: string,
  path: string,
  options: RequestOptions = {},
): Promise<ApiResponse<T>> {
  const response = await sendRaw(method, path, options);
  const attachment = response.headers.get('content-disposition');
  if (attachment) return { data: (await readFile(response, attachment)) as T, etag: '', createdId: '' };
  const envelope = await parseEnvelope(response);
  if (!envelope) {
    markOffline();
    throw new NetworkError('');
  }
  markOnline();
  assertSuccess(envelope);
  return {
    data: envelope.data as T,
    etag: response.headers.get('etag') ?? '',
    createdId: (response.headers.get('location') ?? '').split('/').at(-1) ?? '',
  };
}

export interface Envelope {
  code: number;
  msg: string;
  data: unknown;
}

/** Checks the envelope's code, not the HTTP status: the service can be configured to send errors with status 200. */
export function assertSuccess({ code, msg, data }: Envelope): void {
  if (code === 200) return;
  const { reason = 'UNKNOWN', ...details } = (data ?? {}) as { reason?: string };
  throw new ApiError(code, reason, msg, details);
}

/** Sends one request, whose body is JSON or a form, and returns the response as it is. */
export async function sendRaw(
  method: string,
  path: string,
  { query, body, headers = {}, signal, keepalive = false }: RequestOptions,
): Promise<Response> {
  const isForm = body instanceof FormData;
  try {
    return await fetch(path + toQueryString(query), {
      method,
      credentials: 'same-origin',
      keepalive,
      headers: {
        accept: 'application/json',
        'accept-language': getLanguage() === 'zh' ? 'zh-CN' : 'en',
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    markOffline();
    throw new NetworkError('', { cause: error });
  }
}

/** Reads a file. If the service closes the connection before its end, the file is incomplete and must not be saved. */
async function readFile(response: Response, attachment: string): Promise<DownloadedFile> {
  const [, name = 'download'] = /filename\*=UTF-8''([^;]+)/i.exec(attachment) ?? [];
  try {
    return { blob: await response.blob(), name: decodeURIComponent(name) };
  } catch (error) {
    throw new NetworkError('', { cause: error });
  }
}

function toQueryString(query: Query = {}): string {
  const entries = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(entries.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}

/** Returns undefined for a response without an envelope: it comes from a proxy, not from the service. */
export async function parseEnvelope(response: Response): Promise<Envelope | undefined> {
  try {
    const body = await response.json();
    return typeof body?.code === 'number' ? body : undefined;
  } catch {
    return undefined;
  }
}
