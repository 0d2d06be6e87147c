import assert from 'node:assert/strict';
import type { ApiResponse } from '../support/service.ts';

/** The largest response, in bytes. */
export const LIMIT = 10_000_000;

export const expectFits = ({ text, status }: ApiResponse) => {
  assert.equal(status, 200, text.slice(0, 300));
  assert.ok(Buffer.byteLength(text) <= LIMIT, `${Buffer.byteLength(text)} bytes`);
};

/** Reads all pages and returns their rows. They have the type `never`, so that a test can read any field of them. */
export async function readAll(
  read: (cursor: string) => Promise<ApiResponse>,
): Promise<{ rows: never[]; pages: number }> {
  const rows: never[] = [];
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null; pages++) {
    const response: ApiResponse = await read(cursor);
    expectFits(response);
    rows.push(...(response.data.rows as never[]));
    cursor = response.data.next;
  }
  return { rows, pages };
}
