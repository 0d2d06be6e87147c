import { addDepartments } from '../departments/bulk.ts';
import { createDepartment, patchDepartment, removeDepartments } from '../departments/rules.ts';
import { type CreatedCompany, type Event, type Installation, type PlanContext, writeAt } from './installation.ts';
import { type Language, type OutlineEntry, pick } from './organization.ts';
import type { Random } from './random.ts';

/** A department of the plan. Times are days before now. */
interface PlannedDepartment {
  name: string;
  /** The name in both languages. */
  names: string;
  parent: number | undefined;
  orderNum: number;
  createdDaysAgo: number;
  /** The parent until it moves. */
  formerParent?: number;
}

/** The shares of departments without children that are created later or moved, and of later ones that are renamed. */
const LATER = 0.22;
const MOVED = 0.08;
const RENAMED = 0.4;

/** Plans when the departments of a tenant are created and moved. Only those without children come later or move. */
export function planDepartments(
  entries: OutlineEntry[],
  language: Language,
  random: Random,
  foundedDaysAgo: number,
  lastDaysAgo: number,
): PlannedDepartment[] {
  const hasChildren = new Set(entries.map(({ parent }) => parent));
  const tops = entries.flatMap(({ parent }, n) => (parent === undefined && hasChildren.has(n) ? [n] : []));
  return entries.map(({ name, parent }, n) => {
    const isLeaf = !hasChildren.has(n);
    const isLater = isLeaf && foundedDaysAgo - lastDaysAgo > 60 && random.chance(LATER);
    const createdDaysAgo = isLater
      ? lastDaysAgo + 20 + random.next() * (foundedDaysAgo - lastDaysAgo - 40)
      : foundedDaysAgo;
    const formerParent = random.pick(tops);
    const isMoved = isLeaf && parent !== undefined && formerParent !== parent && random.chance(MOVED);
    return {
      ...{ name: pick(name, language), names: name, parent, orderNum: n + 1, createdDaysAgo },
      ...(isMoved ? { formerParent } : {}),
    };
  });
}

/** Returns the events that create, rename, move and remove the departments of a tenant. */
export function departmentEvents(
  installation: Installation,
  company: () => CreatedCompany,
  planned: PlannedDepartment[],
  { calendar, random, founded, lastDaysAgo }: PlanContext,
): Event[] {
  const { maxLevels } = installation.limits;
  const initialAt = Math.max(...planned.map(({ createdDaysAgo }) => createdDaysAgo));
  const initial = planned.flatMap((each, n) => (each.createdDaysAgo === initialAt ? [n] : []));
  const write = (time: Date, work: Parameters<typeof writeAt<unknown>>[2]) =>
    writeAt(installation, { ...company(), time }, work);
  const change = (n: number, daysAgo: number, patch: () => Parameters<typeof patchDepartment>[3]): Event => ({
    time: calendar.workingTime(daysAgo),
    run: async (time) => {
      await write(time, (tx, caller) =>
        patchDepartment(tx, caller, idOf(n), patch(), { ifMatch: undefined, maxLevels }),
      );
    },
  });
  const idOf = (n: number) => company().deptIds[n] as string;
  const createInitial: Event = {
    time: new Date(founded.getTime() + 1_800_000),
    run: async (time) => {
      const departments = initial.map((n) => {
        const { name, orderNum, parent, formerParent = parent } = planned[n] as PlannedDepartment;
        const parentRef = formerParent === undefined ? null : String(formerParent);
        return { ref: String(n), parentRef, deptName: name, orderNum };
      });
      const { deptIds } = (await write(time, (tx, caller) =>
        addDepartments(tx, caller, { departments }, { maxLevels }),
      )) as { deptIds: number[] };
      for (const [at, n] of initial.entries()) company().deptIds[n] = String(deptIds[at]);
    },
  };
  const events = [createInitial];
  for (const [n, { name, parent, orderNum, createdDaysAgo, formerParent }] of planned.entries()) {
    const isRenamed = createdDaysAgo !== initialAt && random.chance(RENAMED);
    const firstName = isRenamed ? (installation.language === 'zh' ? `${name}（筹）` : `${name} (planned)`) : name;
    const later = () => lastDaysAgo + 1 + random.next() * (createdDaysAgo - lastDaysAgo - 15);
    if (createdDaysAgo !== initialAt) {
      events.push({
        time: calendar.workingTime(createdDaysAgo),
        run: async (time) => {
          const from = formerParent ?? parent;
          const parentId = from === undefined ? '0' : idOf(from);
          const input = { deptName: firstName, parentId, orderNum };
          company().deptIds[n] = String(
            await write(time, (tx, caller) => createDepartment(tx, caller, input, { maxLevels })),
          );
        },
      });
    }
    if (isRenamed) events.push(change(n, later(), () => ({ deptName: name })));
    if (formerParent !== undefined && parent !== undefined)
      events.push(change(n, later(), () => ({ parentId: idOf(parent) })));
  }
  return [...events, ...temporaryDepartment()];

  /** A project office that was later closed. */
  function temporaryDepartment(): Event[] {
    let deptId = '';
    const span = initialAt - lastDaysAgo;
    if (span < 90) return [];
    const deptName = installation.language === 'zh' ? '专项工作组（临时）' : 'Temporary Project Office';
    return [
      {
        time: calendar.workingTime(lastDaysAgo + span * 0.9),
        run: async (time) => {
          deptId = String(
            await write(time, (tx, caller) => createDepartment(tx, caller, { deptName, orderNum: 99 }, { maxLevels })),
          );
        },
      },
      {
        time: calendar.workingTime(lastDaysAgo + span * (0.1 + 0.5 * random.next())),
        run: async (time) =>
          void (await write(time, (tx, caller) => removeDepartments(tx, caller, [deptId], undefined))),
      },
    ];
  }
}
