import { readInRequestedTenant } from '../access/requested-tenant.ts';
import type { App, Dependencies } from '../context.ts';
import { responses } from '../http/openapi.ts';
import { createSheetSender } from '../spreadsheets/sending.ts';
import { readSheetPage, userSheet } from './export.ts';
import { UserExportFilter } from './schema.ts';

export function userExportRoutes(app: App, { db }: Dependencies): void {
  const sendSheet = createSheetSender();
  app.get(
    '/system/user-api/export',
    {
      config: { requires: 'export' },
      schema: {
        tags: ['Users'],
        operationId: 'exportUsers',
        summary: 'Export users as a spreadsheet',
        description: 'Takes the filters of the list.',
        querystring: UserExportFilter,
        response: responses('authenticated', { file: true, errors: ['OTHER_TENANT'] }),
      },
    },
    (request, reply) =>
      sendSheet(request, reply, userSheet, (cursor) =>
        readInRequestedTenant(db, request, (tx, caller) => readSheetPage(tx, caller, request.query, cursor)),
      ),
  );
}
