import type { ConsoleFixture } from '../support/console.ts';
import { insertUses } from '../support/quotas.ts';
import type { Client, Service } from '../support/service.ts';

/** Helpers for tests of the quota screens. */

export const QUOTAS = '/system/quota-api';

/** The amounts of enterpriseQuery that 上海分公司 used on each of the last 28 days, today first. */
export const AMOUNTS = Array.from({ length: 28 }, (_, n) => 18 + ((n * 7) % 13));
export const USED = AMOUNTS.reduce((sum, amount) => sum + amount, 0);

/** Inserts one use for each of the last days and sets the counter to their sum. The first amount is that of today. */
async function insertDailyUses(
  { superuser }: Service,
  { tenantId }: Client,
  quota: string,
  amounts: number[],
  users: number[] = [],
): Promise<void> {
  await superuser`
    insert into banyan.quota_counters (tenant_id, quota, used)
    values (${tenantId}, ${quota}, ${amounts.reduce((sum, amount) => sum + amount, 0)})`;
  const uses = amounts.map((amount, n) => ({
    quota,
    amount,
    subject: `9131000${n % 3}MA1FL0000X`,
    time: new Date(Date.now() - n * 86_400_000),
    user_id: users.length > 0 ? String(users[n % users.length]) : null,
  }));
  // The latest use has the greatest id.
  await insertUses(superuser, tenantId, uses.reverse());
}

/** Creates a parent tenant and three child tenants, which have used some of their quotas. */
export async function startQuotas(fixture: ConsoleFixture) {
  const { service } = fixture;
  const page = await fixture.sharedPage();
  const parent = await service.createTenant({ tenantName: '榕树集团', quotaBo: { chainReport: 5 } });
  const company = await service.createTenant(
    { tenantName: '上海分公司', quotaBo: { enterpriseQuery: 1000, riskReport: 200 } },
    parent,
  );
  const other = await service.createTenant({ tenantName: '北京分公司', quotaBo: { merchant: 50 } }, parent);
  const third = await service.createTenant({ tenantName: '广州分公司', quotaBo: { businessReport: 300 } }, parent);
  const users = await Promise.all(
    [
      ['lan', '王兰'],
      ['zhu', '李竹'],
    ].map(async ([userName, nickName]) => Number(await company.createUser({ userName, nickName }))),
  );
  await insertDailyUses(service, company, 'enterpriseQuery', AMOUNTS, users);
  await insertDailyUses(service, other, 'merchant', [30, 18]);
  await insertDailyUses(service, third, 'businessReport', [3]);
  await parent.put(`${QUOTAS}/apiCalls?tenantId=${company.tenantId}`, {
    total: 100_000,
    period: 'month',
    pooled: true,
  });
  await company.post(`${QUOTAS}/reserve`, { quota: 'riskReport', amount: 15, seconds: 3600 });

  // The history of a tenant has tables with rows of the same names.
  const tables = page.locator('table:not(.change-fields)');
  const rowOf = (name: string) => tables.getByRole('row', { name: new RegExp(`^${name}`) });
  const quotaOf = async (client: Client, quota: string) =>
    (await client.get(QUOTAS)).data.find((each: { quota: string }) => each.quota === quota);
  return { service, page, parent, company, other, third, rowOf, quotaOf };
}
