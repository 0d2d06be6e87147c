import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import { patchDepartment } from '../departments/rules.ts';
import { checkNewUsers, createUsers } from '../users/bulk.ts';
import { patchUser, removeUsers } from '../users/users.ts';
import { type CreatedCompany, type Event, type Installation, type PlanContext, writeAt } from './installation.ts';
import { type Language, pick } from './organization.ts';
import type { Person } from './people.ts';
import { positionIn } from './positions.ts';
import type { Random } from './random.ts';

/** A person of the plan. Times are days before now. */
export interface PlannedEmployee extends Person {
  position: string;
  dept: number;
  hiredDaysAgo: number;
  /** The department until a transfer. */
  formerDept?: number;
  isLeaver: boolean;
  isLeader: boolean;
}

const HIRED_AT_START_CHANCE = 0.6;
const TRANSFER_CHANCE = 0.07;
/** The chance that the next person of a department without a leader becomes its leader. */
const LEADER_CHANCE = 0.75;
const DISABLED_CHANCE = 0.015;

/** Plans who works where, and when they are hired. The last `leavers` people leave later. */
export function planEmployees(
  people: Person[],
  leavers: number,
  departments: { names: string; createdDaysAgo: number }[],
  { random, lastDaysAgo, language }: { random: Random; lastDaysAgo: number; language: Language },
): PlannedEmployee[] {
  const order = random.shuffle([...departments.keys()]);
  const initialAt = Math.max(...departments.map(({ createdDaysAgo }) => createdDaysAgo));
  const isInitial = (dept: number) => departments[dept]?.createdDaysAgo === initialAt;
  const led = new Set<number>();
  return people.map((person, n) => {
    const isLeaver = n >= people.length - leavers;
    // The first one is the administrator, and belongs to the management.
    const dept = n === 0 ? 0 : (order[n % order.length] as number);
    const since = departments[dept]?.createdDaysAgo as number;
    const fromStart = isInitial(dept) && (n === 0 || isLeaver || random.chance(HIRED_AT_START_CHANCE));
    const hiredDaysAgo = fromStart ? since : lastDaysAgo + 6 + random.next() * (since - lastDaysAgo - 12);
    const formerDept = random.pick(order);
    const isTransferred = fromStart && n > 0 && !isLeaver && isInitial(formerDept) && random.chance(TRANSFER_CHANCE);
    const isLeader = !isLeaver && !isTransferred && !led.has(dept) && random.chance(LEADER_CHANCE);
    if (isLeader) led.add(dept);
    // The administrator is responsible for the system, whether or not they lead a department.
    const position = n === 0 ? '信息化负责人|IT Lead' : positionIn(departments[dept]?.names ?? '', { isLeader, n });
    return {
      ...{ ...person, position: pick(position, language), dept, hiredDaysAgo, isLeaver, isLeader },
      ...(isTransferred && formerDept !== dept ? { formerDept } : {}),
    };
  });
}

/** Returns the events that hire, transfer, disable and remove the people of a tenant, and make some of them leaders. */
export function employeeEvents(
  installation: Installation,
  company: () => CreatedCompany,
  planned: PlannedEmployee[],
  { calendar, random, founded, lastDaysAgo }: PlanContext,
): Event[] {
  const { maxLevels } = installation.limits;
  const initialAt = Math.max(...planned.map(({ hiredDaysAgo }) => hiredDaysAgo));
  const initial = planned.flatMap((each, n) => (each.hiredDaysAgo === initialAt ? [n] : []));
  const event = (time: Date, work: (tx: Tx, caller: Caller) => Promise<unknown>): Event => ({
    time,
    run: async (at) => void (await writeAt(installation, { ...company(), time: at }, work)),
  });
  const deptId = (n: number) => company().deptIds[n] as string;
  const userId = (n: number) => company().userIds[n] as string;
  const hire = (time: Date, indexes: number[]) =>
    event(time, async (tx, caller) => {
      const users = indexes.map((n) => {
        const { userName, nickName, position, phone, email, dept, formerDept = dept } = planned[n] as PlannedEmployee;
        const roles = [n === 0 ? ('admin' as const) : ('member' as const)];
        const fields = { userName, nickName, position, phone, email, roles, deptId: deptId(formerDept) };
        return { ref: String(n), password: installation.password.text, ...fields };
      });
      const checked = await checkNewUsers(tx, caller, { users });
      const hashes = users.map(() => installation.password.hash);
      const { userIds } = await createUsers(tx, caller, { users }, { checked, hashes, maxLevels });
      const created = company();
      for (const [at, n] of indexes.entries()) created.userIds[n] = String(userIds[at]);
      // From now on the administrator of the tenant makes its changes.
      if (indexes.includes(0)) {
        const { userName } = planned[0] as PlannedEmployee;
        created.actor = { tenantId: created.tenantId, userName, userId: userId(0) };
      }
    });
  const firstHire = new Date(founded.getTime() + 3_600_000);
  const events = [hire(firstHire, initial)];
  for (const [n, { dept, hiredDaysAgo, formerDept, isLeaver, isLeader }] of planned.entries()) {
    const isInitial = hiredDaysAgo === initialAt;
    const hiredAt = isInitial ? firstHire : calendar.workingTime(hiredDaysAgo);
    /** A time on a weekend moves to the workday before it, which may be the day of the hire. Nothing happens before the hire. */
    const timeOf = (daysAgo: number) => {
      const time = calendar.workingTime(daysAgo);
      return time < hiredAt ? hiredAt : time;
    };
    const later = () => timeOf(lastDaysAgo + 1 + random.next() * (hiredDaysAgo - lastDaysAgo - 2));
    const patch = (time: Date, body: () => object) =>
      events.push(event(time, (tx, caller) => patchUser(tx, caller, userId(n), body(), { ifMatch: undefined })));
    if (!isInitial) events.push(hire(hiredAt, [n]));
    if (formerDept !== undefined) patch(later(), () => ({ deptId: deptId(dept) }));
    if (isLeader) {
      const time = timeOf(lastDaysAgo + (hiredDaysAgo - lastDaysAgo) * (0.9 + 0.08 * random.next()));
      events.push(
        event(time, (tx, caller) =>
          patchDepartment(tx, caller, deptId(dept), { leaderId: userId(n) }, { ifMatch: undefined, maxLevels }),
        ),
      );
    }
    if (isLeaver)
      events.push(event(later(), (tx, caller) => removeUsers(tx, caller, [userId(n)], undefined, undefined)));
    else if (n > 0 && !isLeader && random.chance(DISABLED_CHANCE))
      patch(timeOf(lastDaysAgo + 1), () => ({ status: '1' }));
  }
  return events;
}
