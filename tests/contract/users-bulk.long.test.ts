// Only with test:long: it creates and removes 10,000 users; contract/users-bulk tests the same with two.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hash as argon2 } from '@node-rs/argon2';
import { PASSWORD } from '../support/database.ts';
import { CHANGES, DEPTS, expectOk, read, USERS } from '../support/expect.ts';
import { startUsersBulk } from './users-bulk.ts';

const { service, root, add } = await startUsersBulk();

test('10,000 users are created in one request, and one revert removes them', async () => {
  const count = 10_000;
  const tenant = await service.createTenant();
  const passwordHash = await argon2(PASSWORD, { memoryCost: 8, timeCost: 1 });
  const users = Array.from({ length: count }, (_, n) => ({
    ref: `${n}`,
    userName: `person${n}`,
    nickName: '张'.repeat(20),
    email: 'someone@example.com',
    passwordHash,
    deptRef: `d${n % 100}`,
  }));
  const departments = Array.from({ length: 100 }, (_, n) => ({ ref: `d${n}` }));
  const response = await add(users, { departments }, root, `?tenantId=${tenant.tenantId}`);
  assert.equal(response.code, 200, response.text.slice(0, 300));
  assert.equal(new Set(response.data.userIds).size, count);
  assert.equal((await read(tenant, `${USERS}/list`)).total, count + 1);
  const { rows } = await read(tenant, `${CHANGES}/list?limit=1`);
  expectOk(await tenant.post(`${CHANGES}/${rows[0].id}/revert`));
  assert.equal((await read(tenant, `${USERS}/list`)).total, 1);
  assert.equal((await read(tenant, `${DEPTS}/list`)).total, 0);
});
