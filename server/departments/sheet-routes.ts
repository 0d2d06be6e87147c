import { readActing } from '../access/acting.ts';
import { readAs } from '../auth/caller.ts';
import type { App, Dependencies } from '../context.ts';
import { responses } from '../http/openapi.ts';
import { TemplateQuery } from '../spreadsheets/schema.ts';
import { createSheetSender, sendTemplate } from '../spreadsheets/sending.ts';
import { DEPARTMENT_EXAMPLES } from './columns.ts';
import { departmentSheet, readSheetPage } from './export.ts';
import { DeptExportFilter } from './schema.ts';

const path = '/system/dept-api';
const shared = { tags: ['Departments'] };

/** The routes for files with departments. */
export function departmentSheetRoutes(app: App, { db }: Dependencies): void {
  const sendSheet = createSheetSender();
  app.get(
    `${path}/export`,
    {
      config: { requires: 'export' },
      schema: {
        ...shared,
        operationId: 'exportDepartments',
        summary: 'Export departments as a spreadsheet',
        description: 'Takes the filters of the list. Headers are in the language of the caller.',
        querystring: DeptExportFilter,
        response: responses('authenticated', { file: true, errors: ['OTHER_TENANT'] }),
      },
    },
    (request, reply) =>
      sendSheet(request, reply, departmentSheet, (cursor) =>
        readActing(db, request, (tx, caller) => readSheetPage(tx, caller, request.query, cursor)),
      ),
  );

  app.get(
    `${path}/import/template`,
    {
      config: { requires: 'import' },
      schema: {
        ...shared,
        operationId: 'readDepartmentTemplate',
        summary: 'Download the template for an import of departments',
        description: 'Headers and examples are in the language of the caller.',
        querystring: TemplateQuery,
        response: responses('authenticated', { file: true }),
      },
    },
    async (request, reply) => {
      await readAs(db, request, async () => {});
      return sendTemplate(request, reply, departmentSheet, DEPARTMENT_EXAMPLES);
    },
  );
}
