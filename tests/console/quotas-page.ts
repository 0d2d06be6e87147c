import type { ConsoleFixture } from '../support/console.ts';
import type { Client, Service } from '../support/service.ts';

/** Helpers for tests of the screens of quotas. */

export const QUOTAS = '/system/quota-api';

/** What 上海分公司 used of enterpriseQuery on each of the last days, today first. */
export const AMOUNTS = Array.from({ length: 28 }, (_, n) => 18 + ((n * 7) % 13));
export const USED = AMOUNTS.reduce((sum, amount) => sum + amount, 0);

/** Writes uses of the last days, one a day, and counts them. The first is that of today. */
async function insertUses(
  service: Service,
  { tenantId }: Client,
  quota: string,
  amounts: number[],
  users: number[] = [],
): Promise<void> {
  const uses = amounts.map((amount, n) => ({
    amount,
    days: n,
    user_id: users[n % users.length] ?? null,
    subject: `9131000${n % 3}MA1FL0000X`,
  }));
  await service.superuser`
    insert into banyan.quota_uses (tenant_id, use_id, quota, amount, subject, time, user_id, actor_tenant_id, counted)
    select ${tenantId}, nextval('banyan.quota_use_serial'), ${quota}, u.amount, u.subject,
      now() - u.days * interval '1 day', u.user_id, ${tenantId}, jsonb_build_object(${tenantId}::text, 0)
    from json_to_recordset(${JSON.stringify(uses)}::text::json) as u (amount bigint, days int, user_id bigint, subject text)
    order by u.days desc`;
  await service.superuser`
    insert into banyan.quota_counters (tenant_id, quota, used)
    values (${tenantId}, ${quota}, ${amounts.reduce((sum, amount) => sum + amount, 0)})`;
}

/** Creates a parent tenant (`operator`) and three child tenants, which have used some of their quotas. */
export async function startQuotas(fixture: ConsoleFixture) {
  const { service } = fixture;
  const page = await fixture.sharedPage();
  const operator = await service.createTenant({ tenantName: '榕树集团', quotaBo: { chainReport: 5 } });
  const company = await service.createTenant(
    { tenantName: '上海分公司', quotaBo: { enterpriseQuery: 1000, riskReport: 200 } },
    operator,
  );
  const other = await service.createTenant({ tenantName: '北京分公司', quotaBo: { merchant: 50 } }, operator);
  const idle = await service.createTenant({ tenantName: '广州分公司', quotaBo: { businessReport: 300 } }, operator);
  const users = await Promise.all(
    [
      ['lan', '王兰'],
      ['zhu', '李竹'],
    ].map(async ([userName, nickName]) => Number(await company.createUser({ userName, nickName }))),
  );
  await insertUses(service, company, 'enterpriseQuery', AMOUNTS, users);
  await insertUses(service, other, 'merchant', [30, 18]);
  await insertUses(service, idle, 'businessReport', [3]);
  await operator.put(`${QUOTAS}/apiCalls?tenantId=${company.tenantId}`, {
    total: 100_000,
    period: 'month',
    pooled: true,
  });
  await company.post(`${QUOTAS}/reserve`, { quota: 'riskReport', amount: 15, seconds: 3600 });

  const rowOf = (name: string) => page.getByRole('row', { name: new RegExp(`^${name}`) });
  const quotaOf = async (client: Client, quota: string) =>
    (await client.get(QUOTAS)).data.find((each: { quota: string }) => each.quota === quota);
  return { service, page, operator, company, other, idle, rowOf, quotaOf };
}
