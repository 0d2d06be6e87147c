import type { Database } from '../../db/connect.ts';
import { ApiError } from '../http/errors.ts';
import { changedKeys, compare, type Difference, type Existing, indexExisting, withoutUnknown } from './changes.ts';
import { Findings } from './findings.ts';
import { type PlanOptions, planRecords, type RecordPlan, type TenantRows } from './record-plan.ts';
import { describeRoles, indexLinks } from './roles.ts';
import type { Source } from './source.ts';
import { EMPTY_STATE, readState, type State } from './state.ts';
import { type PlannedTenant, planTenants } from './tenant-plan.ts';
import { createOnce, type ImportedTenant, isCodeFree, isDeleted, readTenants, updateTenant } from './tenants.ts';
import { type Comparison, compareWithPlan } from './verify.ts';
import { changeDepartments, changeUsers, createDepartments, createMissingUsers, type Target } from './write.ts';

/** What happened, or in a preview would happen, to the records of one kind. */
export interface Counts {
  inRuoyi: number;
  planned: number;
  created: number;
  changed: number;
  unchanged: number;
}

export interface TenantResult {
  ruoyiCode: string;
  /** The code in Banyan; null: not created, as in a preview. */
  code: string | null;
  name: string | null;
  outcome: 'created' | 'changed' | 'unchanged' | 'not imported';
  departments: Counts;
  users: Counts;
  comparison: Comparison | null;
}

interface ImportOptions {
  preview: boolean;
  departmentLevels: number;
  tenantLevels: number;
  progress: (line: string) => void;
}

export interface ImportResult {
  preview: boolean;
  tenants: TenantResult[];
  findings: Findings;
  roles: Record<string, unknown>;
}

/** Imports all tenants, one after another. Every transaction leaves a state from which the next run continues. */
export async function importAll(db: Database, source: Source, options: ImportOptions): Promise<ImportResult> {
  const findings = new Findings();
  const planned = planTenants(source, findings);
  if (!source.hasPosts) findings.add('postsMissing', '', 'sys_post, sys_user_post');
  const imported = await readTenants(db);
  const rows = groupRows(source, planned);
  const links = indexLinks(source);
  const tenants: TenantResult[] = [];
  const roles: Record<string, unknown> = {};
  for (const [n, tenant] of planned.entries()) {
    const tenantRows = rows.get(tenant.code) as TenantRows;
    const planOptions = { links, leaderIsUserId: source.leaderIsUserId, maxLevels: options.departmentLevels };
    const result = await importTenant(
      db,
      tenant,
      tenantRows,
      imported.get(tenant.code),
      planOptions,
      options,
      findings,
    );
    tenants.push(result);
    const userIds = tenantRows.users.filter(({ del_flag }) => del_flag === '0').map(({ user_id }) => String(user_id));
    roles[tenant.code] = { tenantId: result.code, ...describeRoles(source, links, tenant.code, userIds) };
    options.progress(`[${n + 1}/${planned.length}] ${describe(result)}`);
  }
  for (const [code, { code: here }] of imported)
    if (!rows.has(code)) findings.add('vanished', code, `tenant ${code}`, `${here} in Banyan`);
  return { preview: options.preview, tenants, findings, roles };
}

function groupRows(source: Source, planned: readonly PlannedTenant[]): Map<string, TenantRows> {
  const departments = new Map(planned.map(({ code }) => [code, [] as Source['sys_dept']]));
  const users = new Map(planned.map(({ code }) => [code, [] as Source['sys_user']]));
  for (const row of source.sys_dept) departments.get(row.tenant_id?.trim() ?? '')?.push(row);
  for (const row of source.sys_user) users.get(row.tenant_id?.trim() ?? '')?.push(row);
  return new Map(
    planned.map(({ code }) => [code, { code, departments: departments.get(code) ?? [], users: users.get(code) ?? [] }]),
  );
}

async function importTenant(
  db: Database,
  tenant: PlannedTenant,
  rows: TenantRows,
  imported: ImportedTenant | undefined,
  planOptions: Omit<PlanOptions, 'takenNames'>,
  options: ImportOptions,
  findings: Findings,
): Promise<TenantResult> {
  const result: TenantResult = {
    ...{ ruoyiCode: tenant.code, code: imported?.code ?? null, name: tenant.values.tenantName, outcome: 'unchanged' },
    departments: { inRuoyi: rows.departments.length, planned: 0, created: 0, changed: 0, unchanged: 0 },
    users: { inRuoyi: rows.users.length, planned: 0, created: 0, changed: 0, unchanged: 0 },
    comparison: null,
  };
  if (imported && (await isDeleted(db, imported.code))) {
    findings.add('tenantDeletedHere', tenant.code, `tenant ${tenant.code}`, `${imported.code} in Banyan`);
    return { ...result, outcome: 'not imported' };
  }
  const before = imported ? await readState(db, imported.code) : EMPTY_STATE;
  const plan = planRecords(rows, { ...planOptions, takenNames: namesOutsidePlan(before, rows) }, findings);
  reportPlan(tenant, plan, findings);
  result.departments.planned = plan.departments.length;
  result.users.planned = plan.users.length;
  reportAgainstState(tenant.code, plan, before, findings);
  try {
    const target = await writeTenant(db, tenant, imported, options, findings, result);
    if (target) await writeRecords(target, plan, before, result);
    else countPreview(plan, before, result);
  } catch (error) {
    // The tenant was deleted meanwhile, or Banyan's rules reject its values. Continue with the other tenants.
    if (!(error instanceof ApiError)) throw error;
    findings.add('refused', tenant.code, `tenant ${tenant.code}`, error.text('en'));
  }
  if (result.code && !options.preview)
    result.comparison = compareWithPlan(
      plan,
      await readState(db, result.code),
      before.importedValues,
      tenant.code,
      findings,
    );
  return result;
}

/** Returns the names of users in Banyan that are not planned: users created there, or no longer in RuoYi. */
function namesOutsidePlan({ names }: State, { users }: TenantRows): Set<string> {
  const planned = new Set(users.filter(({ del_flag }) => del_flag === '0').map(({ user_id }) => user_id));
  return new Set(
    names.filter(({ externalId }) => externalId === null || !planned.has(externalId)).map(({ userKey }) => userKey),
  );
}

function reportPlan({ code, values }: PlannedTenant, { users }: RecordPlan, findings: Findings): void {
  const record = `tenant ${code}`;
  if (values.accountCount >= 0 && users.length > values.accountCount)
    findings.add('tenantOverLimit', code, record, `${users.length} users, account_count ${values.accountCount}`);
  if (!users.some(({ values: user }) => user.administrator && user.status === '0'))
    findings.add('tenantWithoutAdministrator', code, record);
}

function reportAgainstState(code: string, plan: RecordPlan, state: State, findings: Findings): void {
  for (const [kind, difference] of [
    ['department', compare(plan.departments, state.departments, state.importedValues.department)],
    ['user', compare(plan.users, state.users, state.importedValues.user)],
  ] as const) {
    for (const { id } of difference.deletedHere) findings.add('deletedHere', code, `${kind} ${id}`);
    for (const id of difference.vanished) findings.add('vanished', code, `${kind} ${id}`);
  }
}

/** Creates or changes the tenant. Returns undefined in a preview. */
async function writeTenant(
  db: Database,
  tenant: PlannedTenant,
  imported: ImportedTenant | undefined,
  { preview, departmentLevels, tenantLevels }: ImportOptions,
  findings: Findings,
  result: TenantResult,
): Promise<Target | undefined> {
  const isChanged = imported !== undefined && changedKeys(tenant.values, imported.importedValues).length > 0;
  result.outcome = imported ? (isChanged ? 'changed' : 'unchanged') : 'created';
  if (preview) {
    if (!imported && !(await isCodeFree(db, tenant.code)))
      findings.add('tenantCode', tenant.code, `tenant ${tenant.code}`);
    return undefined;
  }
  if (imported && isChanged) await updateTenant(db, tenant, imported, tenantLevels);
  const { code } = imported ?? (await createOnce(db, tenant, tenantLevels));
  if (!imported && code !== tenant.code)
    findings.add('tenantCode', tenant.code, `tenant ${tenant.code}`, `${code} in Banyan`);
  result.code = code;
  return { db, ruoyiCode: tenant.code, tenantId: code, maxLevels: departmentLevels, findings };
}

/** Creates what is missing, then changes what has changed. Leaders are set after users were created, because they are users. */
async function writeRecords(target: Target, plan: RecordPlan, before: State, result: TenantResult): Promise<void> {
  const first = compare(plan.departments, before.departments, before.importedValues.department);
  result.departments.created = await createDepartments(target, first.missing, before);
  let state = await readState(target.db, target.tenantId);
  const deptIds = idsOf(state.departments);
  const users = withoutUnknown(plan.users, 'dept', (id) => deptIds.has(id));
  const userDifference = compare(users, state.users, state.importedValues.user);
  result.users.created = await createMissingUsers(target, userDifference.missing, deptIds);
  if (result.users.created > 0) state = await readState(target.db, target.tenantId);
  const ids = { departments: deptIds, users: idsOf(state.users) };
  const departments = withoutUnknown(plan.departments, 'leaderUser', (id) => ids.users.has(id));
  const { changed } = compare(departments, state.departments, state.importedValues.department);
  const isNew = new Set(first.missing.map(({ id }) => id));
  const changedIds = await changeDepartments(target, changed, ids);
  result.departments.changed = changedIds.filter((id) => !isNew.has(id)).length;
  result.departments.unchanged = countUnchanged(departments, {
    ...first,
    changed: changed.filter(({ planned }) => !isNew.has(planned.id)),
  });
  const changedUserIds = await changeUsers(target, userDifference.changed, deptIds, state.importedValues.user);
  result.users.changed = changedUserIds.length;
  result.users.unchanged = countUnchanged(users, userDifference);
}

const idsOf = (existing: readonly Existing[]): Map<string, string> =>
  new Map(
    [...indexExisting(existing).values()]
      .filter(({ isDeleted }) => !isDeleted)
      .map((each) => [each.externalId, each.id]),
  );

function countPreview(plan: RecordPlan, state: State, result: TenantResult): void {
  // Everything that is planned will exist, except for what was deleted in Banyan.
  const isKept = (existing: readonly Existing[]) => {
    const byId = indexExisting(existing);
    return (id: string) => !byId.get(id)?.isDeleted;
  };
  const departments = compare(
    withoutUnknown(plan.departments, 'leaderUser', isKept(state.users)),
    state.departments,
    state.importedValues.department,
  );
  const users = compare(
    withoutUnknown(plan.users, 'dept', isKept(state.departments)),
    state.users,
    state.importedValues.user,
  );
  const countsOf = (planned: readonly unknown[], difference: Difference<unknown>) => ({
    created: difference.missing.length,
    changed: difference.changed.length,
    unchanged: countUnchanged(planned, difference),
  });
  Object.assign(result.departments, countsOf(plan.departments, departments));
  Object.assign(result.users, countsOf(plan.users, users));
}

/** Counts the records that Banyan has as they are planned. Those that it refused, or that were deleted in it, do not count. */
const countUnchanged = (
  planned: readonly unknown[],
  { missing, changed, deletedHere }: Omit<Difference<unknown>, 'vanished'>,
): number => planned.length - missing.length - changed.length - deletedHere.length;

const describe = ({ ruoyiCode, code, name, outcome, departments, users }: TenantResult): string =>
  `${ruoyiCode}${code && code !== ruoyiCode ? ` → ${code}` : ''} ${name ?? ''}: ${outcome}; departments ${show(departments)}; users ${show(users)}`;

const show = ({ planned, created, changed }: Counts): string => `${planned} (${created} new, ${changed} changed)`;
