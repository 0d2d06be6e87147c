import { type PathNode, PathTree } from '../departments/paths.ts';
import { department } from '../departments/record.ts';
import { apiError, type Language } from '../http/errors.ts';
import { createSlices } from '../http/slices.ts';
import { invalid } from '../http/validation.ts';
import { externalIdFields } from '../records/external-id.ts';
import { decodePath } from '../spreadsheets/path.ts';
import { cleanName } from '../spreadsheets/text.ts';
import { STATUS_WORDS } from '../spreadsheets/words.ts';
import { codeCell, idCell, integerCell, nameCell, pathCell, wordCell } from './cells.ts';
import { headersOf, type ImportErrors, readCells } from './errors.ts';
import type { Table } from './table.ts';

const { deptName, orderNum, leader, phone, email } = department.fields;

const readers = {
  path: pathCell,
  deptName: nameCell(deptName.schema),
  orderNum: integerCell(orderNum.schema),
  leader: nameCell(leader.schema),
  phone: codeCell(phone.schema),
  email: codeCell(email.schema),
  status: wordCell(STATUS_WORDS),
  source: nameCell(externalIdFields.source.schema),
  externalId: idCell(externalIdFields.externalId.schema),
  parentExternalId: idCell(externalIdFields.externalId.schema),
};

/** A row of a file, read but not yet compared with what is stored. */
export interface DepartmentRowInput {
  /** The place that the row names; undefined: it has no path. */
  place: PathNode | undefined;
  /** `source` and `externalId` are set together. */
  source?: string;
  externalId?: string;
  /** Only for rows without a path. */
  parentExternalId?: string;
  values: Partial<Record<'deptName' | 'orderNum' | 'leader' | 'phone' | 'email' | 'status', string | number>>;
}

/** Reads all rows, independently of each other. */
export async function readDepartmentRows(table: Table, errors: ImportErrors, maxLevels: number) {
  const paths = new PathTree();
  const pause = createSlices();
  const headerOf = headersOf(table);
  const rows: DepartmentRowInput[] = [];
  for (const [n, row] of table.rows.entries()) {
    await pause();
    const check = <T>(key: string, read: () => T) => errors.check(n, key, read);
    const { path, source, externalId, parentExternalId, ...values } = readCells(row, readers, headerOf, check);
    const names = path === undefined ? undefined : check('path', () => readNames(path, headerOf('path'), maxLevels));
    const input: DepartmentRowInput = { place: names && paths.add(names), values };
    if ((source === undefined) !== (externalId === undefined) && !errors.has(n)) {
      const missing = source === undefined ? 'source' : 'externalId';
      errors.add(n, missing, apiError('FIELD_REQUIRED', { field: headerOf(missing) }));
    }
    if (source !== undefined && externalId !== undefined) Object.assign(input, { source, externalId });
    if (parentExternalId !== undefined && !names && source !== undefined) input.parentExternalId = parentExternalId;
    if (!names && externalId === undefined && !errors.has(n))
      errors.add(n, 'path', invalid(headerOf('path'), 'departmentKey'));
    rows.push(input);
  }
  return { rows, paths };
}

const checkName = nameCell(deptName.schema);

function readNames(path: string, header: ReturnType<ReturnType<typeof headersOf>>, maxLevels: number): string[] {
  const names = decodePath(path);
  if (names.some((name) => cleanName(name) === '')) throw invalid(header, 'emptyPathName');
  if (names.length > maxLevels) throw apiError('TOO_DEEP', { limit: maxLevels, setting: 'BANYAN_DEPARTMENT_LEVELS' });
  const field = typeof header === 'string' ? { zh: header, en: header } : (header as Record<Language, string>);
  const nameField = { zh: `“${field.zh}”中的部门名称`, en: `A name in ${field.en}` };
  for (const name of names) checkName(name, nameField);
  return names;
}
