import type { Operation } from './operation.ts';

/** Builds the parts of a request from an operation and its parameters. */

export type Params = Readonly<Record<string, unknown>>;

/** Returns the path with its parameters, and all others as the query. */
export function urlOf({ path }: Operation, params: Params): string {
  const inPath = new Set<string>();
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => {
    inPath.add(name);
    return pathSegment(name, params[name]);
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (inPath.has(name) || name === 'body' || value === undefined || value === null) continue;
    query.append(name, [value].flat().map(textOf).join(','));
  }
  const text = query.toString();
  return text ? `${filled}?${text}` : filled;
}

/** Several ids are separated by commas. An empty or dotted segment would lead to another path. */
function pathSegment(name: string, value: unknown): string {
  const segment = [value ?? ''].flat().map((part) => encodeURIComponent(textOf(part)));
  const text = segment.join(',');
  if (segment.includes('') || text === '' || /^\.{1,2}$/.test(text))
    throw new TypeError(`${name} must not be empty, "." or "..".`);
  return text;
}

const textOf = (value: unknown): string => String(assertExact('', value));

/** Ids above 2^53-1 have to be strings: as a number, JavaScript has rounded them already. */
function assertExact(_: string, value: unknown): unknown {
  if (typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value))
    throw new TypeError(`${value} may have been rounded. Send numbers above 2^53-1 as strings.`);
  return value;
}

export interface Body {
  content: string | URLSearchParams | FormData;
  /** Undefined if `fetch` adds it. */
  type?: string;
}

export function bodyOf({ body: type = 'application/json' }: Operation, { body }: Params): Body | undefined {
  if (body === undefined) return undefined;
  if (type === 'multipart/form-data') return { content: formOf(body) };
  if (type === 'application/x-www-form-urlencoded') {
    const content = new URLSearchParams();
    for (const [name, value] of Object.entries(body as object)) if (value !== undefined) content.append(name, value);
    return { content };
  }
  return { content: JSON.stringify(body, assertExact), type };
}

function formOf(body: unknown): FormData {
  if (body instanceof FormData) return body;
  const form = new FormData();
  for (const [name, value] of Object.entries(body as object)) {
    if (value instanceof Blob) form.append(name, value);
    else if (value !== undefined && value !== null) form.append(name, String(value));
  }
  return form;
}

/** `crypto.randomUUID` is missing on pages without https. */
export const randomKey = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
