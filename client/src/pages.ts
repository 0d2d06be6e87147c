import type { CallOptions } from './call.ts';
import type { Params } from './request.ts';
import type { Result } from './response.ts';

export async function* iterateRows(
  call: (params: Params, options: CallOptions) => Promise<Result>,
  params: Params = {},
  options: CallOptions = {},
): AsyncGenerator<unknown, void> {
  // An empty cursor asks for the first page, without counting all rows.
  let cursor: unknown = params.cursor ?? '';
  do {
    const { data } = await call({ ...params, cursor }, options);
    const { rows, next } = data as { rows: unknown[]; next?: string | null };
    yield* rows;
    cursor = next;
  } while (cursor);
}
