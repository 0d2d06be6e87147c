import { consumeOrReserve, lockQuotaCounters } from '../quotas/counters.ts';
import { putQuota } from '../quotas/rules.ts';
import { createTenant, patchTenant, readTenant, setQuotaTotal } from '../tenants/tenants.ts';
import type { Calendar } from './calendar.ts';
import { type Actor, type CreatedCompany, type Event, type Installation, writeAt } from './installation.ts';
import { type Company, pick } from './organization.ts';
import type { Random } from './random.ts';

/** How many days ago services were renewed, quotas were raised and a tenant was disabled. */
const RENEWED_DAYS_AGO = 38;
const RAISED_DAYS_AGO = 60;
const DISABLED_DAYS_AGO = 15;
/** The first service period of a tenant whose service was renewed later. */
const TERM_DAYS = 365;
/** About how many uses of each quota are counted. */
const USES = 60;
const MONTHLY_MESSAGES = 2_000;

/** The last day, in days before now, on which anybody works in a tenant. */
export const lastDayOf = ({ disabled, endsInDays }: Company): number =>
  disabled ? DISABLED_DAYS_AGO : Math.max(0, -(endsInDays ?? 0));

/**
 * Returns the events that create a tenant, renew its service, raise its quotas and disable it. The administrator of 000000 does
 * that.
 */
export function tenantEvents(
  installation: Installation,
  plan: Company,
  {
    calendar,
    founded,
    root,
    parent,
    created,
  }: {
    calendar: Calendar;
    founded: Date;
    root: () => Actor;
    parent: () => string;
    created: (company: CreatedCompany) => void;
  },
): Event[] {
  const { foundedDaysAgo, endsInDays, startsInDays = -foundedDaysAgo, quotas = {}, accountCount } = plan;
  const name = pick(plan.name, installation.language);
  const { tenantLevels: maxLevels } = installation.limits;
  const isOld = foundedDaysAgo > RENEWED_DAYS_AGO;
  const isRenewed = isOld && endsInDays !== null && endsInDays - startsInDays > TERM_DAYS + 30;
  const firstEnd = isRenewed ? startsInDays + TERM_DAYS : endsInDays;
  const endTime = (days: number | null) => (days === null ? null : calendar.dateIn(days));
  const raised = Object.entries(quotas);
  const before = Object.fromEntries(raised.map(([quota, total]) => [quota, Math.round(total * 0.8)]));
  let id = '';
  const asRoot = (time: Date, work: Parameters<typeof writeAt<unknown>>[2]) =>
    writeAt(installation, { actor: root(), tenantId: root().tenantId, time }, work);
  const change = (daysAgo: number, patch: Parameters<typeof patchTenant>[3]): Event => ({
    time: calendar.workingTime(daysAgo),
    run: async (time) => {
      await asRoot(time, (tx, caller) => patchTenant(tx, caller, id, patch, { ifMatch: undefined, maxLevels }));
    },
  });
  const create: Event = {
    time: founded,
    run: async (time) => {
      const input = {
        ...{ tenantName: name, companyName: name, tenantParent: parent(), accountCount },
        ...{ startTime: calendar.dateIn(startsInDays), endTime: endTime(firstEnd), quotaBo: before },
      };
      const tenantId = await asRoot(time, async (tx, caller) => {
        id = await createTenant(tx, caller, input, { password: undefined, maxLevels });
        return (await readTenant(tx, caller, id)).data.tenantId;
      });
      created({ tenantId: tenantId as string, id, actor: root(), deptIds: [], userIds: [] });
    },
  };
  return [
    create,
    ...(isRenewed ? [change(RENEWED_DAYS_AGO, { endTime: endTime(endsInDays) })] : []),
    ...(raised.length > 0 ? [change(RAISED_DAYS_AGO, { quotaBo: quotas })] : []),
    ...(plan.disabled ? [change(DISABLED_DAYS_AGO, { status: '1' })] : []),
  ];
}

const SUBJECTS = [
  '华信机电|Huaxin Electric',
  '东方精密|Orient Precision',
  '江南包装|Jiangnan Packaging',
  '远航物流|Yuanhang Logistics',
  '蓝海科技|Blue Ocean Technology',
  '中岳建材|Zhongyue Materials',
];

/** Returns the events in which the people of a tenant use its quotas, and the one that sets its monthly quota. */
export function quotaUseEvents(
  installation: Installation,
  { quotas = {}, use = 0, foundedDaysAgo }: Company,
  company: () => CreatedCompany,
  {
    calendar,
    random,
    root,
    userNames,
  }: {
    calendar: Calendar;
    random: Random;
    root: () => Actor;
    userNames: string[];
  },
): Event[] {
  const totals = Object.entries(quotas);
  if (totals.length === 0) return [];
  const consume = (quota: string, daysAgo: number, amount: number): Event => ({
    time: calendar.workingTime(daysAgo),
    run: async (time) => {
      const { tenantId, userIds } = company();
      const n = random.integer(userIds.length);
      const actor = { tenantId, userId: userIds[n] ?? (userIds[0] as string), userName: userNames[n] as string };
      const input = { quota, amount, subject: pick(random.pick(SUBJECTS), installation.language) };
      await writeAt(installation, { actor, tenantId, time }, async (tx, caller) => {
        const locked = await lockQuotaCounters(tx, tenantId, [input], time);
        // The result is an error while the quota is used up, until it is raised.
        await consumeOrReserve(locked, [{ caller, ...input }]).write(tx);
      });
    },
  });
  const messages: Event = {
    time: calendar.workingTime(foundedDaysAgo - 4),
    run: async (time) => {
      const quota = { quota: 'smsMessages', tenantId: company().tenantId };
      const input = { total: MONTHLY_MESSAGES, period: 'month' as const };
      const options = { setTotal: setQuotaTotal, now: time };
      await writeAt(installation, { actor: root(), tenantId: root().tenantId, time }, (tx, caller) =>
        putQuota(tx, caller, quota, input, options),
      );
    },
  };
  const days = () => random.next() * (foundedDaysAgo - 10);
  const counted = totals.flatMap(([quota, total]) =>
    Array.from({ length: USES }, () => {
      const amount = Math.round(((total * use) / USES) * (0.5 + random.next()));
      return consume(quota, days(), Math.max(1, amount));
    }),
  );
  const sent = Array.from({ length: USES }, () => consume('smsMessages', days(), 20 + random.integer(180)));
  return [messages, ...counted, ...sent];
}
