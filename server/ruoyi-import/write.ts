import type { Database } from '../../db/connect.ts';
import type { Tx } from '../../db/driver.ts';
import { writeInTenant } from '../../db/tenant-scope.ts';
import { withSavepoint } from '../../db/transaction.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import type { Caller } from '../auth/caller.ts';
import { addDepartments } from '../departments/bulk.ts';
import { patchDepartment } from '../departments/rules.ts';
import { ApiError } from '../http/errors.ts';
import { checkNewUsers, createUsers } from '../users/bulk.ts';
import { replaceImportedHash } from '../users/passwords.ts';
import { patchUser } from '../users/users.ts';
import { type Difference, indexExisting } from './changes.ts';
import type { Findings, Rule } from './findings.ts';
import { type ImportedValues, type Kind, SOURCE, storeImportedValues } from './queries.ts';
import type { DeptValues, Planned, PlannedUser } from './record-plan.ts';
import type { State } from './state.ts';
import { importer } from './tenants.ts';

/** How many records a transaction writes. An interrupted run continues after the last one that was committed. */
const DEPTS_PER_WRITE = 2_000;
const USERS_PER_WRITE = 1_000;
const CHANGES_PER_WRITE = 200;

/** What is needed to write records of one tenant. */
export interface Target {
  db: Database;
  /** The code of the tenant in RuoYi and in Banyan. */
  ruoyiCode: string;
  tenantId: string;
  maxLevels: number;
  findings: Findings;
}

const callerOf = ({ tenantId }: Target): Caller => ({ ...importer, tenantId });

/** Creates departments, parents before their children. Finds parents by their ids in RuoYi. Returns how many were created. */
export async function createDepartments(
  target: Target,
  missing: readonly Planned<DeptValues>[],
  state: State,
): Promise<number> {
  const existing = indexExisting(state.departments);
  const ids = new Map(
    [...existing.values()].filter(({ isDeleted }) => !isDeleted).map((each) => [each.externalId, each.id]),
  );
  let created = 0;
  for (const chunk of chunksOf(missing, DEPTS_PER_WRITE)) {
    for (const [parent, group] of groupByOutsideParent(chunk)) {
      const parentId = parent === null ? '0' : ids.get(parent);
      const refuse = (reason: string) => {
        for (const { id } of group) target.findings.add('refused', target.ruoyiCode, `department ${id}`, reason);
      };
      if (parentId === undefined) {
        refuse(`its parent ${parent} is not in Banyan`);
        continue;
      }
      const deptIds = await attempt(() => createGroup(target, parentId, group), refuse);
      for (const [n, { id }] of group.entries()) if (deptIds?.[n] !== undefined) ids.set(id, String(deptIds[n]));
      created += deptIds?.length ?? 0;
    }
  }
  return created;
}

/** Leaves out the leader, which is set once the users exist. */
const withoutLeader = <P extends Planned<DeptValues>>({ id, values }: P) => ({
  id,
  values: { ...values, leaderUser: null },
});

const createGroup = (target: Target, parentId: string, group: readonly Planned<DeptValues>[]): Promise<number[]> =>
  writeInTenant(target.db, target.tenantId, async (tx) => {
    await lockTenant(tx, target.tenantId);
    const inGroup = new Set(group.map(({ id }) => id));
    const departments = group.map(({ id, values: { parent, leaderUser: _, ...fields } }) => ({
      ...{ ...fields, ref: id, source: SOURCE, externalId: id },
      parentRef: parent !== null && inGroup.has(parent) ? parent : null,
    }));
    const options = { maxLevels: target.maxLevels, allowDisabled: true };
    const { deptIds } = await addDepartments(tx, callerOf(target), { parentId, departments }, options);
    await storeImportedValues(tx, target.tenantId, 'department', group.map(withoutLeader), { areNew: true });
    return deptIds;
  });

/** Groups departments by their nearest ancestor that is not in the list. The list has parents before children. */
function groupByOutsideParent(chunk: readonly Planned<DeptValues>[]): Map<string | null, Planned<DeptValues>[]> {
  const outside = new Map<string, string | null>();
  const groups = new Map<string | null, Planned<DeptValues>[]>();
  for (const each of chunk) {
    const { parent } = each.values;
    const root = parent !== null && outside.has(parent) ? (outside.get(parent) as string | null) : parent;
    outside.set(each.id, root);
    const group = groups.get(root);
    if (group) group.push(each);
    else groups.set(root, [each]);
  }
  return groups;
}

/** Creates users. If a chunk is refused, its users are created one by one, so that one of them cannot hold up the others. */
export async function createMissingUsers(
  target: Target,
  missing: readonly PlannedUser[],
  deptIds: ReadonlyMap<string, string>,
): Promise<number> {
  let created = 0;
  const create = (users: readonly PlannedUser[]) => createUserChunk(target, users, deptIds);
  for (const chunk of chunksOf(missing, USERS_PER_WRITE)) {
    let isRefused = false;
    await attempt(
      () => create(chunk),
      () => {
        isRefused = true;
      },
    );
    if (!isRefused) created += chunk.length;
    for (const user of isRefused ? chunk : []) {
      const refuse = (reason: string) => target.findings.add('refused', target.ruoyiCode, `user ${user.id}`, reason);
      if (await attempt(() => create([user]), refuse)) created++;
    }
  }
  return created;
}

const createUserChunk = (
  target: Target,
  users: readonly PlannedUser[],
  deptIds: ReadonlyMap<string, string>,
): Promise<true> =>
  writeInTenant(target.db, target.tenantId, async (tx) => {
    const caller = callerOf(target);
    const input = {
      users: users.map(({ id, passwordHash, values: { dept, administrator, password: _, ...fields } }) => ({
        ...{ ...fields, ref: id, source: SOURCE, externalId: id, passwordHash },
        roles: [administrator ? ('admin' as const) : ('member' as const)],
        deptId: idOf(dept, deptIds),
      })),
    };
    // Accounts beyond the limit exist already, in RuoYi.
    const options = { maxLevels: target.maxLevels, beyondLimit: true };
    await lockTenant(tx, target.tenantId);
    const checked = await checkNewUsers(tx, caller, input, options);
    const hashes = users.map(({ passwordHash }) => passwordHash);
    await createUsers(tx, caller, input, { ...options, checked, hashes });
    await storeImportedValues(tx, target.tenantId, 'user', users, { areNew: true });
    return true as const;
  });

type Changes<P> = Difference<P>['changed'];

/**
 * Changes departments, parents before their children: in this order no intermediate state has a cycle. Returns the ids in RuoYi
 * of those that were changed.
 */
export const changeDepartments = (
  target: Target,
  changed: Changes<Planned<DeptValues>>,
  ids: { departments: ReadonlyMap<string, string>; users: ReadonlyMap<string, string> },
): Promise<string[]> =>
  applyChanges(target, 'department', changed, async (tx, { planned: { values }, id, keys }) => {
    const { parent, leaderUser, ...fields } = values;
    const patch: Record<string, unknown> = pick(fields, keys);
    if (keys.includes('parent')) patch.parentId = parent === null ? '0' : (ids.departments.get(parent) ?? '-1');
    if (keys.includes('leaderUser')) patch.leaderId = idOf(leaderUser, ids.users);
    const options = { ifMatch: undefined, maxLevels: target.maxLevels, allowDisabled: true };
    await patchDepartment(tx, callerOf(target), id, patch, options);
    return undefined;
  });

/**
 * Changes users. A password is replaced only while Banyan has the one that was imported. Returns the ids in RuoYi of those that
 * were changed.
 */
export const changeUsers = (
  target: Target,
  changed: Changes<PlannedUser>,
  deptIds: ReadonlyMap<string, string>,
  importedValues: ReadonlyMap<string, ImportedValues>,
): Promise<string[]> =>
  applyChanges(target, 'user', changed, async (tx, { planned: { id: ruoyiId, values, passwordHash }, id, keys }) => {
    const { dept, administrator, password, ...fields } = values;
    const patch: Record<string, unknown> = pick(fields, keys);
    if (keys.includes('dept')) patch.deptId = idOf(dept, deptIds);
    if (keys.includes('administrator')) patch.roles = [administrator ? 'admin' : 'member'];
    const caller = callerOf(target);
    if (Object.keys(patch).length > 0) await patchUser(tx, caller, id, patch, { ifMatch: undefined });
    if (!keys.includes('password')) return undefined;
    const digestBefore = String(importedValues.get(ruoyiId)?.password ?? '');
    return (await replaceImportedHash(tx, caller, id, { digestBefore, passwordHash })) ? undefined : 'passwordKept';
  });

const idOf = (externalId: string | null | undefined, ids: ReadonlyMap<string, string>): string | null =>
  (externalId && ids.get(externalId)) || null;

const pick = (values: object, keys: readonly string[]) =>
  Object.fromEntries(Object.entries(values).filter(([key]) => keys.includes(key)));

async function applyChanges<P extends Planned<object>>(
  target: Target,
  kind: Kind,
  changed: Changes<P>,
  /** May return a rule that the report mentions. */
  apply: (tx: Tx, change: Changes<P>[number]) => Promise<Rule | undefined>,
): Promise<string[]> {
  const applied: string[] = [];
  for (const chunk of chunksOf(changed, CHANGES_PER_WRITE)) {
    const outcomes = await writeInTenant(target.db, target.tenantId, async (tx) => {
      await lockTenant(tx, target.tenantId);
      const outcomes: { planned: P; rule?: Rule | undefined; reason?: string }[] = [];
      for (const change of chunk) {
        const { planned } = change;
        await attempt(
          async () => void outcomes.push({ planned, rule: await withSavepoint(tx, (inner) => apply(inner, change)) }),
          (reason) => void outcomes.push({ planned, rule: 'refused', reason }),
        );
      }
      const done = outcomes.filter(({ rule }) => rule !== 'refused').map(({ planned }) => planned);
      await storeImportedValues(tx, target.tenantId, kind, done);
      return outcomes;
    });
    // Report after the commit: a transaction may run several times.
    for (const { planned, rule, reason } of outcomes)
      if (rule) target.findings.add(rule, target.ruoyiCode, `${kind} ${planned.id}`, reason);
    for (const { planned, rule } of outcomes) if (rule !== 'refused') applied.push(planned.id);
  }
  return applied;
}

/** Runs a write. If Banyan's rules refuse it, calls `refuse` with the reason and returns undefined. */
async function attempt<T>(write: () => Promise<T>, refuse: (reason: string) => void): Promise<T | undefined> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    refuse(error.text('en'));
    return undefined;
  }
}

function* chunksOf<T>(items: readonly T[], size: number): Generator<T[]> {
  for (let at = 0; at < items.length; at += size) yield items.slice(at, at + size);
}
