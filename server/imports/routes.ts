import multipart from '@fastify/multipart';
import type { FastifyReply } from 'fastify';
import Type from 'typebox';
import { readInRequestedTenant } from '../access/requested-tenant.ts';
import { readTopLevelTenants } from '../auth/tenant-state.ts';
import type { App, Dependencies } from '../context.ts';
import { ok } from '../http/envelope.ts';
import { ApiError, apiError, type ErrorCode } from '../http/errors.ts';
import { writeHeaders } from '../http/etag.ts';
import { languageOf } from '../http/language.ts';
import { responses } from '../http/openapi.ts';
import { ProgressEvents, respondWithProgress } from '../http/progress.ts';
import { disconnectSignal, isClientWaiting, sendSerialized } from '../http/streaming.ts';
import { invalid } from '../http/validation.ts';
import { readSpreadsheet, reportErrors } from '../spreadsheets/read.ts';
import { TemplateQuery } from '../spreadsheets/schema.ts';
import { fileHeaders, sendTemplate } from '../spreadsheets/sending.ts';
import { departmentImporter, type Importer, type ImportRequest, userImporter } from './importers.ts';
import { showPreview, toReport } from './preview.ts';
import { ImportBody, ImportPreview, ImportQuery, ImportResult } from './schema.ts';
import { estimateMemory, toTable } from './table.ts';
import { createImportLimit, multipartLimits, type ReserveMemory, receiveFile } from './upload.ts';

/** The file that a preview with `report` returns. */
const ERROR_REPORT = { fileName: 'import-errors', title: { zh: '导入错误明细', en: 'Import errors' } };

const errors: ErrorCode[] = [
  'OTHER_TENANT',
  'FILE_REQUIRED',
  'FILE_UNREADABLE',
  'TOO_MANY_ROWS',
  'COLUMNS_MISSING',
  'ROWS_INVALID',
  'EXTERNAL_ID_TAKEN',
  'USER_NAME_TAKEN',
  'CHANGED_MEANWHILE',
  'NOT_MULTIPART',
  'UPLOAD_TIMEOUT',
  'QUOTA_EXHAUSTED',
  'BODY_TOO_LARGE',
];

/** Imports and their templates. The body of an import is a file. It is read only after the caller's permission was checked. */
export async function importRoutes(app: App, deps: Dependencies): Promise<void> {
  const { db, config } = deps;
  const limit = createImportLimit(deps.limits.importBytes);
  const isVerbose = config.logLevel === 'trace' || config.logLevel === 'debug';
  app.removeAllContentTypeParsers();
  await app.register(multipart, { limits: multipartLimits });
  app.addContentTypeParser('*', (_request, _payload, done) => done(apiError('NOT_MULTIPART')));

  const importers = [departmentImporter(deps), userImporter(deps)];

  for (const importer of importers) {
    const { sheet, template } = importer;
    app.get(
      `${importer.path}/template`,
      {
        config: { requires: 'import' },
        schema: {
          tags: [importer.tag],
          operationId: template.operationId,
          summary: template.summary,
          description: 'In the language of the caller.',
          querystring: TemplateQuery,
          response: responses('authenticated', { file: true, errors: ['OTHER_TENANT'] }),
        },
      },
      async (request, reply) => {
        await readInRequestedTenant(db, request, async () => {});
        return sendTemplate(request, reply, sheet, template.examples);
      },
    );

    app.post(
      importer.path,
      {
        config: { requires: 'import', importsFile: true, hasLongPreparation: true },
        // Below `info`, @fastify/multipart would log all headers of the request and so its token.
        childLoggerFactory: (logger) => (isVerbose ? logger.child({}, { level: 'info' }) : logger),
        schema: {
          tags: [importer.tag],
          operationId: importer.operationId,
          summary: importer.summary,
          description: '`apply` writes all rows or none, as one batch. To revert it, revert `changeId`.',
          consumes: ['multipart/form-data'],
          headers: writeHeaders,
          querystring: ImportQuery,
          body: ImportBody,
          response: responses('authenticated', {
            writes: 'unconditional',
            data: Type.Union([ImportPreview, ImportResult]),
            events: ProgressEvents,
            errors,
          }),
        },
      },
      async (request, reply) => {
        if (request.query.report && request.query.mode === 'apply') throw invalid('report', 'onlyWithPreview');
        // The file is large, so check the caller's permission and access to the tenant before reading it.
        const { tenantId } = request.token;
        const topLevel = await readInRequestedTenant(
          db,
          request,
          async (tx) => (await readTopLevelTenants(tx, [tenantId])).get(tenantId) ?? tenantId,
        );
        const work = limit(request, reply, topLevel, (reserveMemory) =>
          handle(importer, topLevel, reserveMemory, request, reply),
        );
        return (await work.catch((error) => {
          // The client has gone, or the deadline has sent an error: nobody receives this one.
          if (error instanceof ApiError && !isClientWaiting(reply)) return reply;
          throw error;
        })) as never;
      },
    );
  }

  async function handle(
    importer: Importer,
    topLevel: string,
    reserveMemory: ReserveMemory,
    request: ImportRequest,
    reply: FastifyReply,
  ) {
    const { mode, report } = request.query;
    const bytes = await receiveFile(request, reply);
    const signal = disconnectSignal(reply);
    reserveMemory(bytes.length);
    const sheet = await readSpreadsheet(bytes, topLevel, { signal });
    reserveMemory(await estimateMemory(sheet));
    const table = await toTable(sheet, importer.sheet.columns, importer.keys);
    const language = languageOf(request.headers);
    if (mode === 'apply') {
      const envelope = await respondWithProgress(request, reply, config, async (progress) => {
        progress.report(0, table.rows.length);
        const result = await importer.run(request, table, progress);
        progress.report(table.rows.length, table.rows.length);
        return result;
      });
      return isClientWaiting(reply) ? sendJson(reply, envelope) : reply;
    }
    const plan = await readInRequestedTenant(db, request, (tx, caller) => importer.plan(tx, caller, table));
    if (!report) return sendJson(reply, ok(showPreview(plan, table, language)));
    const rowErrors = await toReport(plan, table, report, language);
    const file = await reportErrors(bytes, rowErrors, topLevel, { signal });
    return reply.headers(fileHeaders(ERROR_REPORT, report, language)).send(Buffer.from(file));
  }
}

/** The two kinds of results have different schemas, so they are serialized here. */
const sendJson = (reply: FastifyReply, envelope: unknown) =>
  sendSerialized(reply, Buffer.from(JSON.stringify(envelope)));
