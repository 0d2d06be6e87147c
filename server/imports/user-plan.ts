import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { hasAllPermissions } from '../auth/permissions.ts';
import { userKey } from '../auth/user-key.ts';
import { type PathNode, PathTree, showPath } from '../departments/paths.ts';
import { apiError, type Detail } from '../http/errors.ts';
import { createSlices, mapInSlices } from '../http/slices.ts';
import { invalid } from '../http/validation.ts';
import { readAccountsLeft } from '../quotas/accounts.ts';
import { externalIdFields } from '../records/external-id.ts';
import { decodePath, splitPaths } from '../spreadsheets/path.ts';
import { ROLE_WORDS, STATUS_WORDS } from '../spreadsheets/words.ts';
import { readAccounts } from '../users/accounts.ts';
import {
  findUsersByExternalId,
  findUsersByName,
  hasOtherAdministrator,
  readStoredUsers,
  type StoredUser,
  type UserChanges,
} from '../users/reconcile.ts';
import { user } from '../users/record.ts';
import { UserName } from '../users/schema.ts';
import { assertUserNameAllowed } from '../users/user-name.ts';
import { codeCell, idCell, nameCell, pathCell, wordCell } from './cells.ts';
import { headersOf, ImportErrors, readCells } from './errors.ts';
import type { Plan, RowOutcome } from './plan.ts';
import type { Table } from './table.ts';

const { nickName, position, phone, email } = user.fields;

const readers = {
  userName: codeCell(UserName),
  nickName: nameCell(nickName.schema),
  position: nameCell(position.schema),
  deptPath: pathCell,
  deptPaths: pathCell,
  phone: codeCell(phone.schema),
  email: codeCell(email.schema),
  roles: wordCell(ROLE_WORDS),
  status: wordCell(STATUS_WORDS),
  source: nameCell(externalIdFields.source.schema),
  externalId: idCell(externalIdFields.externalId.schema),
};

/** The maximum number of additional departments of a user, as in a bulk creation. */
const MAX_FURTHER = 20;
/** The maximum number of names in a path: the most levels that BANYAN_DEPARTMENT_LEVELS can allow. */
const MAX_PATH_NAMES = 20_000;

interface UserRowInput {
  userName: string | undefined;
  source?: string;
  externalId?: string;
  main: PathNode | undefined;
  /** undefined: the file does not say. */
  further: PathNode[] | undefined;
  values: Record<string, unknown>;
  administrator: boolean | undefined;
}

interface UserPlan extends Plan {
  changes: UserChanges;
  /** The rows of the new users. */
  createdRows: number[];
  userIds: string[];
  deptIds: string[];
}

/** Compares the rows of a file with the users that are stored. */
export async function planUsers(tx: Tx, caller: Caller, tenantId: string, table: Table): Promise<UserPlan> {
  const errors = new ImportErrors();
  const { rows, paths } = await readRows(table, errors);
  await paths.resolve(tx, tenantId);
  const stored = await matchRows(tx, tenantId, { table, rows, errors });
  const outcomes: (RowOutcome | undefined)[] = rows.map(() => undefined);
  const changes: Changes = { created: [], createdRows: [], updated: [], updatedRows: [] };
  const deptIds = new Set<string>();
  const pause = createSlices();
  for (const [n, row] of rows.entries()) {
    await pause();
    const before = stored[n];
    const departments = departmentsOf(n, row, before, errors);
    const written = {
      ...(before ? user.pick(before) : user.withDefaults({})),
      ...row.values,
      ...(row.externalId === undefined ? {} : { source: row.source, externalId: row.externalId }),
      administrator: row.administrator ?? before?.administrator ?? false,
      userName: row.userName ?? before?.userName ?? '',
      ...departments,
    } as UserChanges['created'][number];
    const mayManage = !(written.administrator || before?.administrator) || hasAllPermissions(caller);
    if (!before && !mayManage) errors.add(n, 'roles', apiError('NOT_ALLOWED'));
    if (written.userName !== (before?.userName ?? '') && !errors.has(n))
      errors.check(n, 'userName', () =>
        assertUserNameAllowed(written.userName, headersOf(table)('userName') as string),
      );
    if (errors.has(n)) continue;
    if (!before) {
      outcomes[n] = { action: 'created', changes: [] };
      changes.created.push(written);
      changes.createdRows.push(n);
      for (const id of written.deptIds) deptIds.add(id);
      continue;
    }
    const changed = [
      ...(written.userName === before.userName ? [] : ['userName']),
      ...user.names.filter((name) => written[name] !== before[name]),
      ...(written.administrator === before.administrator ? [] : ['roles']),
    ];
    const moves = [
      ...(written.deptId === before.deptId ? [] : ['deptId']),
      ...(isSameSet(written.deptIds, before.deptIds) ? [] : ['deptIds']),
    ];
    const moved = moves.length > 0;
    outcomes[n] = {
      action: moved ? 'moved' : changed.length > 0 ? 'changed' : 'unchanged',
      changes: [...moves, ...changed],
    };
    if (outcomes[n]?.action === 'unchanged') continue;
    if (!mayManage) {
      errors.add(n, 'roles', apiError('NOT_ALLOWED'));
      continue;
    }
    changes.updated.push({ ...written, userId: before.userId, moved, wasEnabled: before.status === '0' });
    changes.updatedRows.push(n);
    for (const id of written.deptIds) deptIds.add(id);
  }
  await checkAccounts(tx, caller, tenantId, changes.createdRows, errors);
  await checkAdministrators(tx, tenantId, { stored, ...changes }, errors);
  for (const n of errors.byRow.keys()) outcomes[n] = undefined;
  return {
    outcomes,
    errors,
    changes,
    createdRows: changes.createdRows,
    userIds: changes.updated.map(({ userId }) => userId),
    deptIds: [...deptIds],
  };
}

interface Changes {
  created: UserChanges['created'][number][];
  createdRows: number[];
  updated: UserChanges['updated'][number][];
  updatedRows: number[];
}

async function readRows(table: Table, errors: ImportErrors) {
  const paths = new PathTree();
  const pause = createSlices();
  const headerOf = headersOf(table);
  const rows: UserRowInput[] = [];
  for (const [n, row] of table.rows.entries()) {
    await pause();
    const check = <T>(key: string, read: () => T) => errors.check(n, key, read);
    const cells = readCells(row, readers, headerOf, check);
    const { userName, deptPath, deptPaths, roles, source, externalId, ...values } = cells;
    const main =
      deptPath === undefined ? undefined : check('deptPath', () => readNames(deptPath, headerOf('deptPath')));
    const further =
      deptPaths === undefined
        ? undefined
        : check('deptPaths', () => {
            const listed = splitPaths(deptPaths).filter((path) => path.trim() !== '');
            if (listed.length > MAX_FURTHER) throw tooMany(headerOf('deptPaths'));
            return listed.map((path) => readNames(path, headerOf('deptPaths')));
          });
    const administrator = roles === undefined ? undefined : roles === 'admin';
    const input: UserRowInput = {
      userName,
      main: main && paths.add(main),
      further: further?.map((names) => paths.add(names)),
      values,
      administrator,
    };
    if ((source === undefined) !== (externalId === undefined) && !errors.has(n)) {
      const missing = source === undefined ? 'source' : 'externalId';
      errors.add(n, missing, apiError('FIELD_REQUIRED', { field: headerOf(missing) }));
    }
    if (source !== undefined && externalId !== undefined) Object.assign(input, { source, externalId });
    if (userName === undefined && externalId === undefined && !errors.has(n))
      errors.add(n, 'userName', apiError('FIELD_REQUIRED', { field: headerOf('userName') }));
    rows.push(input);
  }
  return { rows, paths };
}

function readNames(path: string, header: Detail): string[] {
  const names = decodePath(path);
  if (names.some((name) => name.trim() === '')) throw invalid(header, 'emptyPathName');
  if (names.length > MAX_PATH_NAMES) throw apiError('DEPT_PATH_NOT_FOUND', { path: showPath(names.slice(0, 10)) });
  return names;
}

const tooMany = (field: Detail) =>
  apiError('INVALID_FIELD', {
    field,
    problem: { zh: `最多 ${MAX_FURTHER} 项`, en: `must not have more than ${MAX_FURTHER} items` },
  });

interface Rows {
  table: Table;
  rows: readonly UserRowInput[];
  errors: ImportErrors;
}

const keyOf = (source: string, externalId: string) => JSON.stringify([source, externalId]);

/** Finds the stored user of each row: by the external id, otherwise by the name. */
async function matchRows(tx: Tx, tenantId: string, { table, rows, errors }: Rows): Promise<(StoredUser | undefined)[]> {
  const repeats = (n: number, key: string, first: number) =>
    errors.add(n, key, apiError('ROW_REPEATED', { row: table.rows[first]?.row as number }));
  const names = new Map<string, number>();
  const externalIds = new Map<string, number>();
  const pause = createSlices();
  for (const [n, { userName, source, externalId }] of rows.entries()) {
    await pause();
    const name = userName === undefined ? undefined : userKey(userName);
    const firstName = name === undefined ? undefined : names.get(name);
    if (firstName !== undefined) repeats(n, 'userName', firstName);
    else if (name !== undefined) names.set(name, n);
    if (source === undefined || externalId === undefined) continue;
    const key = keyOf(source, externalId);
    const first = externalIds.get(key);
    if (first !== undefined && !errors.has(n)) repeats(n, 'externalId', first);
    else if (first === undefined) externalIds.set(key, n);
  }
  const keys = [...externalIds.entries()].map(([key, n]) => ({ key, row: rows[n] as UserRowInput }));
  const listed = keys.map(({ row }, index) => ({
    index,
    source: row.source as string,
    externalId: row.externalId as string,
  }));
  const found = await findUsersByExternalId(tx, tenantId, listed);
  const byExternalId = new Map(found.map(({ index, id }) => [keys[index]?.key as string, String(id)]));
  const byName = await findUsersByName(tx, tenantId, [...names.keys()]);
  const users = await readStoredUsers(tx, tenantId, [...new Set([...byExternalId.values(), ...byName.values()])]);
  const rowOf = new Map<string, number>();
  return mapInSlices([...rows.entries()], ([n, { userName, source, externalId }]) => {
    const known = externalId === undefined ? undefined : byExternalId.get(keyOf(source as string, externalId));
    const named = userName === undefined ? undefined : byName.get(userKey(userName));
    // The name and the external id belong to different users.
    if (known !== undefined && named !== undefined && known !== named && !errors.has(n))
      errors.add(n, 'userName', apiError('USER_NAME_TAKEN'));
    const found = users.get(known ?? named ?? '');
    if (!found) {
      if (userName === undefined && !errors.has(n))
        errors.add(n, 'userName', apiError('FIELD_REQUIRED', { field: headersOf(table)('userName') }));
      return undefined;
    }
    const first = rowOf.get(found.userId);
    if (first !== undefined && !errors.has(n)) repeats(n, 'userName', first);
    rowOf.set(found.userId, first ?? n);
    if (externalId !== undefined && known === undefined && found.source !== null && found.externalId !== null)
      errors.add(
        n,
        'externalId',
        apiError('EXTERNAL_ID_DIFFERS', { source: found.source, externalId: found.externalId }),
      );
    return found;
  });
}

/** The departments that a user will have. What the file does not mention stays as it is. */
function departmentsOf(
  n: number,
  { main, further }: UserRowInput,
  before: StoredUser | undefined,
  errors: ImportErrors,
) {
  const idOf = (key: string, { deptIds, names }: PathNode): string | undefined =>
    errors.check(n, key, () => {
      const [deptId, another] = deptIds;
      if (another !== undefined) throw apiError('DEPT_PATH_AMBIGUOUS', { path: showPath(names) });
      if (deptId == null) throw apiError('DEPT_PATH_NOT_FOUND', { path: showPath(names) });
      return deptId;
    });
  const deptId = main ? (idOf('deptPath', main) ?? null) : (before?.deptId ?? null);
  const others = further
    ? further.flatMap((node) => idOf('deptPaths', node) ?? [])
    : (before?.deptIds ?? []).filter((id) => id !== before?.deptId);
  return { deptId, deptIds: [...new Set([...(deptId === null ? [] : [deptId]), ...others])] };
}

const isSameSet = (a: readonly string[], b: readonly string[]): boolean =>
  a.length === b.length && a.every((id) => b.includes(id));

/** Adds an error to each row that would exceed the account limit of the tenant, or a quota of accounts in it or above it. */
async function checkAccounts(
  tx: Tx,
  caller: Caller,
  tenantId: string,
  createdRows: readonly number[],
  errors: ImportErrors,
) {
  if (createdRows.length === 0) return;
  const { accountLimit, count } = await readAccounts(tx, tenantId);
  const own = accountLimit === -1 ? Number.POSITIVE_INFINITY : Math.max(0, accountLimit - count);
  const quota = await readAccountsLeft(tx, caller, tenantId);
  for (const [index, n] of createdRows.entries()) {
    if (index >= own) errors.add(n, null, apiError('ACCOUNT_LIMIT', { accountCount: accountLimit }));
    if (quota && index >= quota.left) errors.add(n, null, quota.error);
  }
}

/** Adds errors if no enabled administrator would remain. */
async function checkAdministrators(
  tx: Tx,
  tenantId: string,
  { stored, created, updated, updatedRows }: Changes & { stored: readonly (StoredUser | undefined)[] },
  errors: ImportErrors,
): Promise<void> {
  const isAdministrator = ({ administrator, status }: { administrator: boolean; status: string }) =>
    administrator && status === '0';
  const lost = updatedRows.filter(
    (n, index) => isAdministrator(stored[n] as StoredUser) && !isAdministrator(updated[index] as StoredUser),
  );
  if (lost.length === 0 || created.some(isAdministrator) || updated.some(isAdministrator)) return;
  const ids = lost.map((n) => (stored[n] as StoredUser).userId);
  if (await hasOtherAdministrator(tx, tenantId, ids)) return;
  for (const n of lost) errors.add(n, 'roles', apiError('LAST_ADMINISTRATOR'));
}
