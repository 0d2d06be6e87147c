/**
 * Returns the same text as JSON.stringify for a value that was parsed from JSON. It iterates instead of recursing: a body of
 * one megabyte can be nested half a million levels deep.
 */
export function stringifyDeep(value: unknown): string {
  const parts: string[] = [];
  /** What is still to be written, the next at the end: a value, or text that is written as it is. */
  const pending: ({ value: unknown } | string)[] = [{ value }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    if (typeof next === 'string') {
      parts.push(next);
      continue;
    }
    const { value } = next;
    if (typeof value !== 'object' || value === null) {
      // undefined, for a request without a body, is null in an array.
      parts.push(JSON.stringify(value) ?? 'null');
      continue;
    }
    const isArray = Array.isArray(value);
    parts.push(isArray ? '[' : '{');
    pending.push(isArray ? ']' : '}');
    const entries = Object.entries(value);
    for (let n = entries.length - 1; n >= 0; n--) {
      const [name, inner] = entries[n] as [string, unknown];
      pending.push({ value: inner }, `${n > 0 ? ',' : ''}${isArray ? '' : `${JSON.stringify(name)}:`}`);
    }
  }
  return parts.join('');
}
