import assert from 'node:assert/strict';
import { test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import { expectOk, read, USERS } from '../support/expect.ts';
import { fillRuoyi, insertStatement, snowflake } from '../support/ruoyi.ts';
import { shareService } from '../support/service.ts';
import { CODE, dept, personOf, u, withDefects } from './ruoyi-defects.ts';
import { createPostgres, hash, importerOf } from './ruoyi-import.ts';

/** npm run import-ruoyi: the posts of users become their position. */

const service = await shareService();
const { root } = service;
const { run } = importerOf(service.databaseUrl);
const ruoyi = await createPostgres();
afterFile(() => ruoyi.close());

const person = personOf(hash);
const p = (n: number) => snowflake(900 + n);
const post = (n: number, post_name: string, post_sort: number | null, values: Record<string, string> = {}) => ({
  ...{ post_id: p(n), tenant_id: CODE, post_code: `p${n}`, post_name, post_sort, status: '0', ...values },
});
const links = (user: number, ...posts: number[]) => posts.map((n) => ({ user_id: u(user), post_id: p(n) }));
const { sys_tenant = [] } = withDefects(
  { rows: {}, codes: [], departments: 0, users: 0 },
  { leader: 'id', password: hash },
).rows;
await fillRuoyi(
  ruoyi,
  {
    sys_tenant,
    sys_dept: [dept(1, '0')],
    sys_user: [1, 2, 3, 4].map((n) => person(n)),
    sys_post: [
      post(1, '架构师', 10, { status: '1' }),
      post(2, '研发经理', 2),
      post(3, '研发经理', 3),
      post(4, '顾问', null, { tenant_id: '000000' }),
      ...[5, 6, 7].map((n) => post(n, String(n).repeat(49), n)),
    ],
    sys_user_post: [...links(1, 1, 3, 2), ...links(2, 4, 2, 99), ...links(3, 7, 6, 5)],
  },
  'id',
);
const first = await run(ruoyi);
const { code } = first.report().tenants[0];

async function readPositions(): Promise<(string | null)[]> {
  const { rows } = await read(root, `${USERS}/list?tenantId=${code}&sort=userName`);
  return rows.map(({ position }: { position: string | null }) => position);
}

async function setPosition(n: number, position: string) {
  const { rows } = await read(root, `${USERS}/list?tenantId=${code}&userName=user${n}`);
  expectOk(await root.patch(`${USERS}/${rows[0].userId}?tenantId=${code}`, { position }));
}

const found = ({ report }: typeof first, rule: string): string[] =>
  report()
    .findings.filter((each: { rule: string }) => each.rule === rule)
    .map(({ record, detail = '' }: { record: string; detail?: string }) => `${record} ${detail}`);

test('the position has the names of the posts, in the order of RuoYi and with at most 100 characters', async () => {
  assert.equal(first.status, 0, first.output);
  const long = ['5', '6', '7'].map((each) => each.repeat(49));
  assert.deepEqual(await readPositions(), ['研发经理、架构师', '研发经理', long.join('、').slice(0, 99), null]);
  assert.deepEqual(found(first, 'postLink').sort(), [`user ${u(2)} post ${p(4)}`, `user ${u(2)} post ${p(99)}`]);
  assert.deepEqual(found(first, 'text'), [`user ${u(3)} ${long.join('、')}`]);
});

test('a further run imports posts that changed in RuoYi and keeps positions that changed in Banyan', async () => {
  await setPosition(2, '总监');
  await setPosition(4, '顾问');
  await ruoyi.run(`update sys_post set post_name = '首席架构师' where post_id = ${p(1)}`);
  await ruoyi.run(`delete from sys_user_post where user_id = ${u(3)}`);
  const changed = await run(ruoyi);
  assert.equal(changed.report().totals.users.changed, 2, changed.output);
  assert.deepEqual(await readPositions(), ['研发经理、首席架构师', '总监', null, '顾问']);
  assert.equal((await run(ruoyi)).report().totals.users.changed, 0);
});

test('without a table of posts, positions stay as they are, and the report says so', async () => {
  await ruoyi.run('alter table sys_post rename to sys_post_elsewhere');
  await ruoyi.run(`update sys_user set phonenumber = '1' where user_id in (${u(1)}, ${u(2)})`);
  await ruoyi.run(insertStatement('sys_user', [person(5), person(6)]));
  await ruoyi.run(insertStatement('sys_user_post', links(6, 2)));
  const without = await run(ruoyi);
  assert.equal(without.status, 0, without.output);
  const { created, changed } = without.report().totals.users;
  assert.deepEqual([created, changed], [2, 2]);
  assert.match(without.output, /1 × The database has no table sys_post or sys_user_post/);
  const before = ['研发经理、首席架构师', '总监', null, '顾问', null, null];
  assert.deepEqual(await readPositions(), before);
  // Once the table is there, only users who have posts are changed.
  await setPosition(5, '实习生');
  await ruoyi.run('alter table sys_post_elsewhere rename to sys_post');
  const again = await run(ruoyi);
  assert.equal(again.report().totals.users.changed, 1, again.output);
  assert.deepEqual(found(again, 'postsMissing'), []);
  assert.deepEqual(await readPositions(), [...before.slice(0, 4), '实习生', '研发经理']);
});
