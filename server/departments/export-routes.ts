import { readInRequestedTenant } from '../access/requested-tenant.ts';
import type { App, Dependencies } from '../context.ts';
import { responses } from '../http/openapi.ts';
import { createSheetSender } from '../spreadsheets/sending.ts';
import { departmentSheet, readSheetPage } from './export.ts';
import { DeptExportFilter } from './schema.ts';

export function departmentExportRoutes(app: App, { db }: Dependencies): void {
  const sendSheet = createSheetSender();
  app.get(
    '/system/dept-api/export',
    {
      config: { requires: 'export' },
      schema: {
        tags: ['Departments'],
        operationId: 'exportDepartments',
        summary: 'Export departments as a spreadsheet',
        description: 'Takes the filters of the list.',
        querystring: DeptExportFilter,
        response: responses('authenticated', { file: true, errors: ['OTHER_TENANT'] }),
      },
    },
    (request, reply) =>
      sendSheet(request, reply, departmentSheet, (cursor) =>
        readInRequestedTenant(db, request, (tx, caller) => readSheetPage(tx, caller, request.query, cursor)),
      ),
  );
}
