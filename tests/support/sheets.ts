import { parseCsv } from 'hucre/csv';
import { readXlsx } from 'hucre/xlsx';
import type { Client } from './service.ts';

/** Downloads files and reads them back with the library, as an import would. */

export interface Download {
  status: number;
  headers: Headers;
  bytes: Buffer;
}

export async function download(
  { base, token }: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<Download> {
  const response = await fetch(base + path, { headers: { authorization: `Bearer ${token}`, ...headers } });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

export async function sheetsOf(bytes: Buffer) {
  const { sheets } = await readXlsx(bytes, { maxRows: Number.POSITIVE_INFINITY } as object);
  return sheets.map(({ name, rows }) => ({ name, rows }));
}

export const csvRowsOf = (bytes: Buffer): string[][] =>
  parseCsv(bytes.toString('utf8'), { delimiter: ',' }) as string[][];

/** Downloads a csv file and returns each row as an object with the headers as keys. */
export async function exportedRows(
  client: Client,
  path: string,
  headers: Record<string, string> = {},
): Promise<Record<string, string>[]> {
  const { status, bytes } = await download(client, path, headers);
  if (status !== 200) throw new Error(`${path} responded ${status} ${bytes}`);
  const [header = [], ...rows] = csvRowsOf(bytes);
  return rows.map((row) => Object.fromEntries(header.map((name, n) => [name, row[n] ?? ''])));
}
