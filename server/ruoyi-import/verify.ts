import { indexExisting } from './changes.ts';
import type { Findings } from './findings.ts';
import type { ImportedValues } from './queries.ts';
import type { RecordPlan } from './record-plan.ts';
import type { State } from './state.ts';

/** The result of comparing what Banyan has with what RuoYi has, after the repairs. */
export interface Comparison {
  departments: number;
  users: number;
  /** Records that are in the same place as in RuoYi. */
  matching: number;
  /** Records that were moved or deleted in Banyan after an import, or that Banyan refused. */
  explained: string[];
  /** Records that differ for no known reason: a defect. */
  unexplained: string[];
}

/** The place of a top-level department, or of a user without a department, as the report names it. */
const NO_DEPARTMENT = 'no department';

/** Counts what Banyan has, and compares the place of every department and the department of every user with the plan. */
export function compareWithPlan(
  plan: RecordPlan,
  state: State,
  /** What earlier runs imported. A record that they put in the right place and that is elsewhere now was moved in Banyan. */
  importedBefore: State['importedValues'],
  code: string,
  findings: Findings,
): Comparison {
  const depts = indexExisting(state.departments);
  const users = indexExisting(state.users);
  const externalIds = new Map(state.departments.map(({ id, externalId }) => [id, externalId]));
  const placeOf = (id: string | null): string =>
    id === null ? NO_DEPARTMENT : (externalIds.get(id) ?? `a department of Banyan (${id})`);
  const reported = new Set(
    findings.all.flatMap(({ tenant, rule, record }) =>
      tenant === code && (rule === 'refused' || rule === 'deletedHere') ? [record] : [],
    ),
  );
  const result: Comparison = { departments: 0, users: 0, matching: 0, explained: [], unexplained: [] };
  const check = (record: string, expected: string, actual: string | undefined, importedPlace: unknown) => {
    if (actual === expected) {
      result.matching++;
      return;
    }
    const isExplained =
      reported.has(record) ||
      (actual !== undefined && (importedPlace === expected || reported.has(`department ${expected}`)));
    const place = actual === undefined ? 'is missing' : `is in ${actual} instead of ${expected}`;
    (isExplained ? result.explained : result.unexplained).push(`${record} ${place}`);
  };
  for (const { id, values } of plan.departments) {
    const found = depts.get(id);
    if (found && !found.isDeleted) result.departments++;
    const actual = found && !found.isDeleted ? placeOf(found.parentId) : undefined;
    check(
      `department ${id}`,
      values.parent ?? NO_DEPARTMENT,
      actual,
      placeBefore(importedBefore.department.get(id), 'parent'),
    );
  }
  for (const { id, values } of plan.users) {
    const found = users.get(id);
    if (found && !found.isDeleted) result.users++;
    const actual = found && !found.isDeleted ? placeOf(found.deptId) : undefined;
    check(`user ${id}`, values.dept ?? NO_DEPARTMENT, actual, placeBefore(importedBefore.user.get(id), 'dept'));
  }
  return result;
}

const placeBefore = (importedValues: ImportedValues | undefined, key: string): unknown =>
  importedValues && (importedValues[key] ?? NO_DEPARTMENT);
