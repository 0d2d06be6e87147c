import { readActing } from '../access/acting.ts';
import { readAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { responses } from '../http/openapi.ts';
import { TemplateQuery } from '../spreadsheets/schema.ts';
import { createSheetSender, sendTemplate } from '../spreadsheets/sending.ts';
import { USER_EXAMPLES } from './columns.ts';
import { readSheetPage, userSheet } from './export.ts';
import { UserExportFilter } from './schema.ts';

const path = '/system/user-api';
const shared = { tags: ['Users'] };

/** The routes for files with users. */
export function userSheetRoutes(app: App, { db }: Dependencies): void {
  const sendSheet = createSheetSender();
  app.get(
    `${path}/export`,
    {
      config: { requires: 'export' },
      schema: {
        ...shared,
        operationId: 'exportUsers',
        summary: 'Export users as a spreadsheet',
        description: 'Takes the filters of the list. Headers are in the language of the caller.',
        querystring: UserExportFilter,
        response: responses('authenticated', { file: true, errors: ['OTHER_TENANT'] }),
      },
    },
    (request, reply) =>
      sendSheet(request, reply, userSheet, (cursor) =>
        readActing(db, request, (tx, caller) => readSheetPage(tx, caller, request.query, cursor)),
      ),
  );

  app.get(
    `${path}/import/template`,
    {
      config: { requires: 'import' },
      schema: {
        ...shared,
        operationId: 'readUserTemplate',
        summary: 'Download the template for an import of users',
        description: 'Headers and examples are in the language of the caller.',
        querystring: TemplateQuery,
        response: responses('authenticated', { file: true }),
      },
    },
    async (request, reply) => {
      await readAs(db, request, async () => {});
      return sendTemplate(request, reply, userSheet, USER_EXAMPLES);
    },
  );
}
