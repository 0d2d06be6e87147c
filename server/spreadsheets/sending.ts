import type { FastifyReply, FastifyRequest } from 'fastify';
import { KeyedSemaphore } from '../../db/semaphore.ts';
import type { Language } from '../http/errors.ts';
import { languageOf } from '../http/language.ts';
import { FILE_TYPES } from '../http/openapi.ts';
import { createSlices } from '../http/slices.ts';
import { isClientWaiting, queueTimeout, sendChunks, streamResponse } from '../http/streaming.ts';
import type { CellValue } from './column.ts';
import type { Format } from './schema.ts';
import { type Examples, writeTemplate } from './template.ts';
import { type Sheet, writeSheet } from './writing.ts';

/** How many exports of one kind a tenant runs at the same time: each holds a page of rows while its client reads. */
const EXPORTS_PER_TENANT = 2;
/** How many rows one transaction reads. */
export const SHEET_PAGE_SIZE = 500;

/** Rows of a sheet, and the cursor of the next ones; null on the last page. */
export interface SheetPage<Row> {
  rows: Iterable<Row>;
  next: string | null;
}

type FileRequest = FastifyRequest<{ Querystring: { format?: Format } }>;

/** Returns a function that sends a sheet of any size. Each page is read when the client has read the one before. */
export function createSheetSender() {
  const limit = new KeyedSemaphore(EXPORTS_PER_TENANT);
  return <Row>(
    request: FileRequest,
    reply: FastifyReply,
    sheet: Sheet<Row>,
    readPage: (cursor: string) => Promise<SheetPage<Row>>,
  ): Promise<FastifyReply> => {
    const { format = 'xlsx' } = request.query;
    const language = languageOf(request.headers);
    const send = async () => {
      // Read the first page before the file begins, so that a caller who may not read it gets an error.
      const first = await readPage('');
      if (!isClientWaiting(reply)) return;
      const rows = cellsOf(sheet, language, first, readPage);
      await sendChunks(reply, writeSheet(sheet, rows, { format, language }), {
        headers: fileHeaders(sheet, format, language),
        totalMs: reply.server.timing.exportTotalMs,
      });
    };
    return streamResponse(reply, () => limit.run(request.token.tenantId, send, queueTimeout(reply)));
  };
}

async function* cellsOf<Row>(
  { columns }: Sheet<Row>,
  language: Language,
  first: SheetPage<Row>,
  readPage: (cursor: string) => Promise<SheetPage<Row>>,
): AsyncGenerator<CellValue[], void> {
  const pause = createSlices();
  for (let page = first; ; page = await readPage(page.next)) {
    for (const row of page.rows) {
      yield columns.map(({ show }) => show(row, language));
      await pause();
    }
    if (page.next === null) return;
  }
}

export async function sendTemplate<Row>(
  request: FileRequest,
  reply: FastifyReply,
  sheet: Sheet<Row>,
  examples: Examples,
): Promise<FastifyReply> {
  const { format = 'xlsx' } = request.query;
  const language = languageOf(request.headers);
  const file = await writeTemplate(sheet, examples, format, language);
  const name = { fileName: `${sheet.fileName}-template`, title: templateTitle(sheet.title) };
  return reply.headers(fileHeaders(name, format, language)).send(file);
}

const templateTitle = ({ zh, en }: Sheet<never>['title']) => ({ zh: `${zh}导入模板`, en: `${en} template` });

/** A file name in ASCII for clients that read no other, and one in the caller's language (RFC 6266). */
export function fileHeaders(
  { fileName, title }: NamedFile,
  format: Format,
  language: Language,
): Record<string, string> {
  const translated = encodeURIComponent(`${title[language]}.${format}`);
  return {
    'content-type': FILE_TYPES[format],
    'content-disposition': `attachment; filename="${fileName}.${format}"; filename*=UTF-8''${translated}`,
    'content-language': language === 'zh' ? 'zh-CN' : 'en',
  };
}

type NamedFile = Pick<Sheet<never>, 'fileName' | 'title'>;
