import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Tx } from '../../db/driver.ts';
import { readInRequestedTenant } from '../access/requested-tenant.ts';
import { type Caller, prepareAndWrite, writeAs } from '../auth/caller.ts';
import type { Dependencies } from '../context.ts';
import { DEPARTMENT_EXAMPLES } from '../departments/columns.ts';
import { departmentSheet } from '../departments/export.ts';
import type { Progress } from '../http/progress.ts';
import { textOf } from '../spreadsheets/sheet.ts';
import type { Examples } from '../spreadsheets/template.ts';
import { cleanCode } from '../spreadsheets/text.ts';
import type { Sheet } from '../spreadsheets/writing.ts';
import { USER_EXAMPLES } from '../users/columns.ts';
import { userSheet } from '../users/export.ts';
import { planDepartments } from './department-plan.ts';
import { importDepartments } from './departments.ts';
import type { Plan } from './plan.ts';
import { assertNoErrors } from './preview.ts';
import type { ImportQuery, ImportResult } from './schema.ts';
import type { Table } from './table.ts';
import { planUsers } from './user-plan.ts';
import { createPasswords, type InitialPasswords, importUsers } from './users.ts';

export type ImportRequest = FastifyRequest<{ Querystring: Static<typeof ImportQuery> }>;

/** How one kind of record is imported. */
export interface Importer {
  path: string;
  tag: string;
  operationId: string;
  summary: string;
  /** The operation that returns a file to fill in. */
  template: { operationId: string; summary: string; examples: Examples };
  // biome-ignore lint/suspicious/noExplicitAny: how a column is shown does not matter here
  sheet: Sheet<any>;
  /** A file must have at least one of these columns: they identify the record of a row. */
  keys: readonly string[];
  /** Checks all rows without a lock. */
  plan: (tx: Tx, caller: Caller, table: Table) => Promise<Plan>;
  /** Writes all rows or none. */
  run: (request: ImportRequest, table: Table, progress: Progress) => Promise<ImportResult>;
}

export function departmentImporter({ db, config }: Dependencies): Importer {
  const maxLevels = config.departmentLevels;
  return {
    path: '/system/dept-api/import',
    tag: 'Departments',
    operationId: 'importDepartments',
    summary: 'Import departments from a file',
    template: {
      operationId: 'readDepartmentTemplate',
      summary: 'Download the template for an import of departments',
      examples: DEPARTMENT_EXAMPLES,
    },
    sheet: departmentSheet,
    keys: ['path', 'externalId'],
    plan: (tx, { tenantId }, table) => planDepartments(tx, tenantId, table, { maxLevels }),
    run: (request, table, progress) =>
      writeAs(db, request, (tx, caller) => {
        const report = (done: number) => progress.report(Math.min(done, table.rows.length - 1), table.rows.length);
        return importDepartments(tx, caller, table, { ...tenantOf(request), maxLevels, report });
      }),
  };
}

export function userImporter({ db, passwords }: Dependencies): Importer {
  return {
    path: '/system/user-api/import',
    tag: 'Users',
    operationId: 'importUsers',
    summary: 'Import users from a file',
    template: {
      operationId: 'readUserTemplate',
      summary: 'Download the template for an import of users',
      examples: USER_EXAMPLES,
    },
    sheet: userSheet,
    keys: ['userName', 'externalId'],
    plan: (tx, caller, table) => planUsers(tx, caller, caller.tenantId, table),
    async run(request, table, progress) {
      let initial: InitialPasswords = new Map();
      let createdRows: readonly number[] = [];
      const prepare = async () => {
        const plan = await readInRequestedTenant(db, request, (tx, caller) =>
          planUsers(tx, caller, caller.tenantId, table),
        );
        assertNoErrors(plan, table);
        initial = await createPasswords(
          plan.createdRows,
          (password) => {
            progress.throwIfAborted();
            return passwords.hashGenerated(password);
          },
          (done) => progress.report(done, plan.createdRows.length + table.rows.length),
        );
      };
      const result = await prepareAndWrite(db, request, prepare, (tx, caller) => {
        const report = (done: number) =>
          progress.report(initial.size + Math.min(done, table.rows.length - 1), initial.size + table.rows.length);
        const onPlan = (rows: readonly number[]) => {
          createdRows = rows;
        };
        return importUsers(tx, caller, table, { ...tenantOf(request), passwords: initial, report, onPlan });
      });
      // A user whom somebody else created while the passwords were hashed keeps the password that they have. The result that is
      // stored for an Idempotency-Key has no passwords, so a replayed one has none either.
      const shown = [...createdRows]
        .sort((a, b) => a - b)
        .map((n) => ({
          row: table.rows[n]?.row as number,
          userName: nameIn(table, n),
          password: initial.get(n)?.password as string,
        }));
      return request.replayed ? result : { ...result, passwords: shown };
    },
  };
}

const nameIn = (table: Table, n: number): string => cleanCode(textOf(table.rows[n]?.cells.get('userName')));

const tenantOf = ({ query: { tenantId } }: ImportRequest) => (tenantId === undefined ? {} : { tenantId });
