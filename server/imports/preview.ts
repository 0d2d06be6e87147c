import { type ApiError, apiError, type Language } from '../http/errors.ts';
import { mapInSlices } from '../http/slices.ts';
import { textOf } from '../spreadsheets/sheet.ts';
import type { Report } from '../spreadsheets/write-report.ts';
import type { CellError } from './errors.ts';
import { countActions, type Plan } from './plan.ts';
import type { ImportPreview, RowError } from './schema.ts';
import type { Table } from './table.ts';

/** How many rows a preview shows, and how much of each of their cells. */
const MAX_SHOWN = 500;
const MAX_TEXT = 200;
/** How many errors the response to a rejected import lists. */
const MAX_LISTED = 100;

export function showPreview(plan: Plan, table: Table, language: Language): ImportPreview {
  const { outcomes, errors } = plan;
  const shown = new Set([...errors.byRow.keys()].sort((a, b) => a - b).slice(0, MAX_SHOWN));
  for (let n = 0; n < table.rows.length && shown.size < MAX_SHOWN; n++) shown.add(n);
  return {
    rows: table.rows.length,
    ...countActions(plan),
    invalid: errors.byRow.size,
    errors: errors.count,
    columns: table.columns.map(({ key, letter, header }) => ({
      field: key,
      column: letter,
      header: typeof header === 'string' ? header : header[language],
    })),
    hasHeader: table.headerRow !== undefined,
    table: [...shown]
      .sort((a, b) => a - b)
      .map((n) => ({
        row: table.rows[n]?.row as number,
        action: outcomes[n]?.action ?? null,
        changes: outcomes[n]?.changes ?? [],
        cells: Object.fromEntries(
          [...(table.rows[n]?.cells ?? [])].map(([key, cell]) => [key, textOf(cell).slice(0, MAX_TEXT).toWellFormed()]),
        ),
        errors: showErrors(n, errors.byRow.get(n) ?? [], table, language),
      })),
  };
}

function showErrors(n: number, errors: readonly CellError[], table: Table, language: Language): RowError[] {
  return errors.map(({ key, error }) => ({
    row: table.rows[n]?.row as number,
    column: table.columns.find((column) => column.key === key)?.letter ?? null,
    field: key,
    reason: error.code,
    msg: error.text(language),
  }));
}

/** Throws if rows have errors, and lists the first of them. */
export function assertNoErrors({ errors }: Plan, table: Table): void {
  if (errors.count === 0) return;
  const listed = [...errors.byRow.keys()]
    .sort((a, b) => a - b)
    .slice(0, MAX_LISTED)
    .flatMap((n) => (errors.byRow.get(n) ?? []).map((each) => ({ n, ...each })))
    .slice(0, MAX_LISTED);
  throw apiError('ROWS_INVALID', {
    rows: errors.byRow.size,
    errors: listed.map(({ n, key, error }) => ({
      row: table.rows[n]?.row as number,
      column: table.columns.find((column) => column.key === key)?.letter ?? null,
      field: key,
      reason: error.code,
      msg: textsOf(error),
    })),
  });
}

const textsOf = (error: ApiError) => ({ zh: error.text('zh'), en: error.text('en') });

/** What to add to the file so that its author finds the errors. */
export async function toReport(
  { errors }: Plan,
  table: Table,
  format: 'xlsx' | 'csv',
  language: Language,
): Promise<Report> {
  return {
    format,
    header: { zh: '错误', en: 'Errors' }[language],
    headerRow: table.headerRow,
    errors: new Map(
      await mapInSlices([...errors.byRow], ([n, found]): [number, string] => [
        table.rows[n]?.row as number,
        found.map(({ error }) => error.text(language)).join('\n'),
      ]),
    ),
  };
}
