import { apiError } from './errors.ts';
import { idOf } from './fields.ts';
import { invalid } from './validation.ts';

type Document = Record<string, unknown>;

/**
 * Applies a merge patch to a document (RFC 7396): null removes a field, an object is merged, anything else replaces the value.
 * The document lists every field that callers may set. Others are ignored, as in other requests, so a patch that is nested
 * deeply costs nothing.
 */
export function mergePatch<T extends object>(document: T, patch: object): Partial<T> {
  const merged: Document = { ...(document as Document) };
  for (const [name, value] of Object.entries(document)) {
    if (!Object.hasOwn(patch, name)) continue;
    const change = (patch as Document)[name];
    if (change === null) delete merged[name];
    else if (change !== undefined)
      merged[name] = isObject(change) && isObject(value) ? mergePatch(value, change) : change;
  }
  return merged as Partial<T>;
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Throws if a patch removes a field that every record has. */
export function assertNotRemoved(patch: object, names: readonly string[]): void {
  for (const name of names) {
    if ((patch as Document)[name] === null) throw apiError('FIELD_REQUIRED', { field: name });
  }
}

/** Throws if a patch contains an id other than that of the path. Clients that send a record back include its id. */
export function assertSameId(id: string, sent: number | string | null | undefined, field: string): void {
  if (sent != null && idOf(sent) !== id) throw invalid(field, 'otherId');
}
