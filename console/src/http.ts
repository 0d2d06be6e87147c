import { lost, reached } from './connection.ts';
import { language } from './language.ts';

/** The service said no: its own reason and its own words, in the language of the screen. */
export class ApiRefusal extends Error {
  override name = 'ApiRefusal';
  readonly status: number;
  readonly reason: string;
  /** The facts of the refusal, such as `deptIds`. */
  readonly data: Record<string, unknown>;

  constructor(status: number, reason: string, message: string, data: Record<string, unknown>) {
    super(message);
    this.status = status;
    this.reason = reason;
    this.data = data;
  }
}

/** Nobody answered: no network, the service stopped, or a proxy in between without it. */
export class ApiOffline extends Error {
  override name = 'ApiOffline';
}

export const isRefusal = (error: unknown, reason: string): error is ApiRefusal =>
  error instanceof ApiRefusal && error.reason === reason;

export interface Answer<T> {
  data: T;
  /** For If-Match; empty where the service gives none. */
  etag: string;
  /** The id of what was just made. */
  madeId: string;
}

export type Query = Record<string, string | number | boolean | null | undefined>;

export interface Sending {
  query?: Query | undefined;
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
  /** Its answer is taken also when the page is left meanwhile. */
  lasting?: boolean;
}

/** One request, one answer; the envelope is taken off. */
export async function send<T>(method: string, path: string, sending: Sending = {}): Promise<Answer<T>> {
  const { body, headers = {}, signal, lasting = false } = sending;
  let response: Response;
  try {
    response = await fetch(path + asText(sending.query), {
      method,
      credentials: 'same-origin',
      keepalive: lasting,
      headers: {
        accept: 'application/json',
        'accept-language': language() === 'zh' ? 'zh-CN' : 'en',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    lost();
    throw new ApiOffline('', { cause: error });
  }
  const envelope = await envelopeOf(response);
  if (!envelope) {
    lost();
    throw new ApiOffline('');
  }
  reached();
  // The envelope's code, because the service may be set to answer all refusals with status 200.
  if (envelope.code !== 200) {
    const { reason = 'UNKNOWN', ...facts } = (envelope.data ?? {}) as { reason?: string };
    throw new ApiRefusal(envelope.code, reason, envelope.msg, facts);
  }
  return {
    data: envelope.data as T,
    etag: response.headers.get('etag') ?? '',
    madeId: (response.headers.get('location') ?? '').split('/').at(-1) ?? '',
  };
}

function asText(query: Query = {}): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null);
  const text = new URLSearchParams(given.map(([key, value]) => [key, String(value)])).toString();
  return text && `?${text}`;
}

/** What has no envelope was not said by the service. */
async function envelopeOf(response: Response): Promise<{ code: number; msg: string; data: unknown } | undefined> {
  try {
    const body = await response.json();
    return typeof body?.code === 'number' ? body : undefined;
  } catch {
    return undefined;
  }
}
