import { writeXlsx } from 'hucre/xlsx';
import type { ApiResponse, Client } from './service.ts';

/** A cell as a spreadsheet program stores it. */
export type Cell = string | number | boolean | Date | null;

export const xlsx = async (rows: Cell[][], options: object = {}): Promise<Buffer> =>
  Buffer.from(await writeXlsx({ sheets: [{ name: 'Sheet1', rows, ...options }] }));

export const csv = (rows: Cell[][]): Buffer => Buffer.from(rows.map((cells) => cells.join(',')).join('\r\n'), 'utf8');

/** The body of a form with one file. */
export function form(file: Buffer, name = 'file') {
  const boundary = 'banyan-test-boundary';
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"; filename="a.xlsx"\r\ncontent-type: application/octet-stream\r\n\r\n`;
  return {
    raw: Buffer.concat([Buffer.from(head), file, Buffer.from(`\r\n--${boundary}--\r\n`)]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` } as Record<string, string>,
  };
}

export function importFile(
  client: Client,
  kind: 'dept' | 'user',
  mode: 'preview' | 'apply',
  file: Buffer,
  { headers = {}, query = '' }: { headers?: Record<string, string>; query?: string } = {},
): Promise<ApiResponse> {
  const { raw, headers: own } = form(file);
  return client.post(`/system/${kind}-api/import?mode=${mode}${query}`, undefined, {
    raw,
    headers: { ...own, ...headers },
  });
}
