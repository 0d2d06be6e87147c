import { randomBytes } from 'node:crypto';
import { withBackdating } from '../../db/backdating.ts';
import type { Database } from '../../db/connect.ts';
import type { Sql } from '../../db/driver.ts';
import { StartupError } from '../../db/startup-error.ts';
import { ROOT_TENANT } from '../../db/tenant-scope.ts';
import { lockTenant } from '../access/tenant-scope.ts';
import { hashPassword, type PasswordCost } from '../auth/passwords.ts';
import { sealEverything } from '../ledger/sealing.ts';
import { Calendar } from './calendar.ts';
import { departmentEvents, planDepartments } from './departments.ts';
import { employeeEvents, type PlannedEmployee, planEmployees } from './employees.ts';
import { type Actor, type CreatedCompany, type Event, type Installation, writeAt } from './installation.ts';
import { COMPANIES, type Company, type Language, listDepartments, PEOPLE, pick } from './organization.ts';
import { createPeople } from './people.ts';
import { countRecords } from './queries.ts';
import { Random } from './random.ts';
import { lastDayOf, quotaUseEvents, tenantEvents } from './tenants.ts';

const SEED = 20_260_101;
const HISTORY_DAYS = 365;
/** One leaver for this many people. */
const PEOPLE_PER_LEAVER = 14;
/** How many events pass between two lines of progress. */
const PROGRESS_EVENTS = 500;

export interface Login {
  tenantId: string;
  tenantName: string;
  userName: string;
}

interface Options {
  language: Language;
  limits: Installation['limits'];
  now: Date;
  progress(line: string): void;
  passwordCost?: PasswordCost | undefined;
}

/**
 * Fills an empty installation: departments and people of a group and its tenants, with the changes of a year. Every write goes
 * through the rules of its domain. Returns how to log in.
 */
export async function fillWithDemoData(
  { db, owner }: { db: Database; owner: Sql },
  { language, limits, now, progress, passwordCost }: Options,
): Promise<{ password: string; logins: Login[] }> {
  const text = randomBytes(12).toString('base64url');
  const installation: Installation = {
    db,
    language,
    limits,
    password: { text, hash: await hashPassword(text, passwordCost) },
  };
  const random = new Random(SEED);
  const calendar = new Calendar(now, random);
  const plans = planGroup(installation, random, calendar);
  // The sort is stable: events with the same time stay in the order in which they were planned.
  const events = plans.events.sort((a, b) => a.time.getTime() - b.time.getTime());
  const latest = new Date(now.getTime() - 60_000);
  await withBackdating(owner, async () => {
    for (const [n, { time, run }] of events.entries()) {
      if (n % PROGRESS_EVENTS === 0) progress(`${time.toISOString().slice(0, 10)} (${n} of ${events.length} steps)`);
      await run(time < latest ? time : latest);
    }
  });
  progress('Sealing the ledger');
  await sealEverything(db);
  return { password: text, logins: plans.logins() };
}

/** Plans the head office and all tenants. */
function planGroup(installation: Installation, random: Random, calendar: Calendar) {
  const companies: CreatedCompany[] = [];
  const companyOf = (n: number) => companies[n] as CreatedCompany;
  const root = (): Actor => companyOf(0).actor;
  const names = createPeople(2 * PEOPLE.all, installation.language, random);
  const administrators: PlannedEmployee[] = [];
  const events: Event[] = [];
  for (const [n, entries] of listDepartments().entries()) {
    const company = COMPANIES[n - 1];
    const foundedDaysAgo = company?.foundedDaysAgo ?? HISTORY_DAYS;
    const founded = calendar.workingTime(foundedDaysAgo);
    founded.setUTCHours(1, n, 0, 0);
    const lastDaysAgo = company ? lastDayOf(company) : 0;
    const context = { calendar, random, founded, lastDaysAgo };
    const planned = planDepartments(entries, installation.language, random, foundedDaysAgo, lastDaysAgo);
    const count = company?.people ?? PEOPLE.headOffice;
    const leavers = Math.round(count / PEOPLE_PER_LEAVER);
    const employees = planEmployees(names.splice(0, count + leavers), leavers, planned, {
      ...context,
      language: installation.language,
    });
    administrators.push(employees[0] as PlannedEmployee);
    const get = () => companyOf(n);
    events.push(
      ...(company
        ? companyEvents(company, n, founded)
        : [headOfficeEvent(installation, founded, (created) => (companies[0] = created))]),
      ...departmentEvents(installation, get, planned, context),
      ...employeeEvents(installation, get, employees, context),
    );
    if (company) {
      const userNames = employees.map(({ userName }) => userName);
      events.push(...quotaUseEvents(installation, company, get, { calendar, random, root, userNames }));
    }
  }
  return { events, logins };

  function companyEvents(company: Company, n: number, founded: Date): Event[] {
    const parent = () => (company.parent === undefined ? ROOT_TENANT : companyOf(company.parent + 1).tenantId);
    return tenantEvents(installation, company, { calendar, founded, root, parent, created: (c) => (companies[n] = c) });
  }

  function logins(): Login[] {
    return companies.map(({ tenantId }, n) => ({
      tenantId,
      tenantName: n === 0 ? '' : pick((COMPANIES[n - 1] as Company).name, installation.language),
      userName: (administrators[n] as PlannedEmployee).userName,
    }));
  }
}

/** Returns the first event: it checks that the installation is empty. `withBackdating` rejects a second run at the same time. */
function headOfficeEvent(installation: Installation, founded: Date, created: (company: CreatedCompany) => void): Event {
  const userName = pick('演示数据|Demo data', installation.language);
  const actor = { tenantId: ROOT_TENANT, userName, userId: '0' };
  return {
    time: founded,
    run: async (time) => {
      await writeAt(installation, { actor, tenantId: ROOT_TENANT, time }, async (tx) => {
        await lockTenant(tx, ROOT_TENANT);
        const { tenants, departments, users } = await countRecords(tx);
        if (tenants + departments + users > 0)
          throw new StartupError(
            `The installation is not empty: it has ${tenants} tenants besides ${ROOT_TENANT}, ${departments} departments and ` +
              `${users} users besides the first administrator. Use a new data directory or database.`,
          );
      });
      created({ tenantId: ROOT_TENANT, id: '', actor, deptIds: [], userIds: [] });
    },
  };
}
