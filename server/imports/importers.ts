import type { FastifyRequest } from 'fastify';
import type { Static } from 'typebox';
import type { Tx } from '../../db/driver.ts';
import { type Caller, writeAs } from '../auth/caller.ts';
import type { Dependencies } from '../context.ts';
import { DEPARTMENT_COLUMNS } from '../departments/columns.ts';
import type { Progress } from '../http/progress.ts';
import type { Column } from '../spreadsheets/column.ts';
import { planDepartments } from './department-plan.ts';
import { importDepartments } from './departments.ts';
import type { Plan } from './plan.ts';
import type { ImportQuery, ImportResult } from './schema.ts';
import type { Table } from './table.ts';

export type ImportRequest = FastifyRequest<{ Querystring: Static<typeof ImportQuery> }>;

/** How one kind of record is imported. */
export interface Importer {
  path: string;
  tag: string;
  operationId: string;
  summary: string;
  // biome-ignore lint/suspicious/noExplicitAny: how a column is shown does not matter here
  columns: readonly Column<any>[];
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
    columns: DEPARTMENT_COLUMNS,
    plan: (tx, { tenantId }, table) => planDepartments(tx, tenantId, table, { maxLevels }),
    run: (request, table, progress) =>
      writeAs(db, request, (tx, caller) => {
        const report = (done: number) => progress.report(Math.min(done, table.rows.length - 1), table.rows.length);
        return importDepartments(tx, caller, table, { ...tenantOf(request), maxLevels, report });
      }),
  };
}

const tenantOf = ({ query: { tenantId } }: ImportRequest) => (tenantId === undefined ? {} : { tenantId });
