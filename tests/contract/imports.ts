import assert from 'node:assert/strict';
import { type Cell, csv, importFile } from '../support/import.ts';
import type { ApiResponse, Client } from '../support/service.ts';

export const revert = (client: Client, { data }: ApiResponse) =>
  client.post(`/system/change-api/${data.changeId}/revert`);

export async function apply(client: Client, kind: 'dept' | 'user', rows: Cell[][]): Promise<ApiResponse> {
  const response = await importFile(client, kind, 'apply', csv(rows));
  assert.equal(response.code, 200, response.text);
  return response;
}

/** Previews rows. Returns what would happen to each, or its errors. */
export async function outcomes(client: Client, kind: 'dept' | 'user', rows: Cell[][]): Promise<string[]> {
  const { code, data, text } = await importFile(client, kind, 'preview', csv(rows));
  assert.equal(code, 200, text);
  return data.table.map(
    (row: { action: string | null; errors: { column: string; reason: string }[] }) =>
      row.action ?? row.errors.map(({ column, reason }) => `${column} ${reason}`).join(', '),
  );
}
