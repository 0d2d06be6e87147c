import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KEY_PERMISSIONS } from '../../server/auth/permissions.ts';
import { outcomeOf, storedState } from '../support/expect.ts';
import { readOperations } from '../support/openapi.ts';
import { isLong, sample } from '../support/scale.ts';
import { type ApiResponse, Client, type Service } from '../support/service.ts';
import { type ActingTarget, actingCalls } from './acting-calls.ts';
import { absent, dept, people, quotas, tenant } from './cross-tenant-calls/target.ts';

/**
 * Calls every operation that takes `?tenantId=` for a tenant below, with callers that have access to it and with others.
 * The everyday run enables row-level security for callers with access and disables it for the others: row-level security could
 * hide a mistake in the code.
 */
export async function testActing(service: Service, rowSecurity: 'with' | 'without'): Promise<void> {
  const above = await service.createTenant();
  const low = await service.createTenant({}, above);
  const child = await service.createTenant({}, low);
  const sibling = await service.createTenant({}, above);
  const target = await createTarget(low, service.root);
  const deletedId = await above.create(tenant, {});
  const { tenantId: deleted } = (await above.get(`${tenant}/${deletedId}`)).data;
  assert.equal((await above.delete(`${tenant}/${deletedId}`)).code, 200);
  const memberAbove = await service.createMember(above);
  const memberLow = await service.createMember(low);
  const { data: key } = await above.post('/system/key-api', { keyName: 'key', permissions: KEY_PERMISSIONS });
  const keyAbove = new Client(service.base, key.key, undefined, above.tenantId);

  /** Callers and tenants in which they must not act. */
  const outsiders: [string, Client, string][] = [
    ['an administrator below names a tenant above', child, low.tenantId],
    ['an administrator below names a tenant two levels above', child, above.tenantId],
    ['an administrator names a sibling tenant', sibling, low.tenantId],
    ['an administrator names a child of a sibling tenant', sibling, child.tenantId],
    ['an administrator names the tenant above', low, above.tenantId],
    ['an administrator above names a deleted tenant', above, deleted],
    ['a member names a tenant below', memberAbove, low.tenantId],
    ['a member names the tenant above', memberLow, above.tenantId],
  ];
  const limitedKey: (typeof outsiders)[number] = ['a key without `below` names a tenant below', keyAbove, low.tenantId];
  const isMember = (client: Client) => client === memberAbove || client === memberLow;

  if (isLong || rowSecurity === 'with') {
    test('this test covers every operation that takes tenantId', async () => {
      const operations = await readOperations(service);
      const taking = operations.filter(({ parameters = [] }) =>
        parameters.some((parameter) => parameter.name === 'tenantId' && parameter.in === 'query'),
      );
      const documented = taking
        .map(({ method, path }) => `${method} ${path}`)
        // There tenantId is a filter like others.
        .filter((operation) => ![`GET ${tenant}/list`, `GET ${tenant}/export`].includes(operation));
      assert.deepEqual([...new Set(actingCalls.map(({ operation }) => operation))].sort(), documented.sort());
    });
  }

  for (const [
    n,
    { operation, call, writes = false, unrecorded = false, forMembers = false, differs = false },
  ] of actingCalls.entries()) {
    const title = `${operation} ${n}`;
    if (isLong || rowSecurity === 'without') {
      test(`a request for a tenant outside the caller's scope is answered like one for an unknown tenant: ${title}`, async () => {
        const before = await storedState(service);
        // The everyday run tests two of the users, the key and one malformed code, different ones for each operation.
        const rejected = [...sample(outsiders, 4, n), limitedKey].map(async ([name, client, code]) => {
          const response = await call(client, `tenantId=${code}`, target);
          assert.equal(
            outcomeOf(response),
            isMember(client) && !forMembers ? '403 NOT_ALLOWED' : '403 OTHER_TENANT',
            name,
          );
          const unknown = await call(client, `tenantId=${absent.code}`, target);
          assert.equal(withoutCode(response, code), withoutCode(unknown, absent.code), name);
        });
        const invalid = sample(['x', '1'.repeat(19), "'%20or%20true"], 3, n).map(async (malformed) => {
          const responses = [above, sibling].map((client) => call(client, `tenantId=${malformed}`, target));
          const [first, other] = (await Promise.all(responses)).map(({ status, text }) => `${status} ${text}`);
          assert.match(String(first), /^400 /, malformed);
          assert.equal(other, first, malformed);
        });
        await Promise.all([...rejected, ...invalid]);
        assert.deepEqual(await storedState(service), before, 'the database changed');
      });
    }
    if (!isLong && rowSecurity === 'without') continue;

    test(`an administrator above acts in the tenant below: ${title}`, async () => {
      const ownMember = await call(memberLow, `tenantId=${low.tenantId}`, target);
      assert.equal(outcomeOf(ownMember), forMembers ? '200 OK' : '403 NOT_ALLOWED', 'a member names their own tenant');
      const [{ last }] = await service.superuser<[{ last: string }]>`
        select coalesce(max(change_id), 0)::text as last from banyan.changes where tenant_id = ${low.tenantId}`;
      const own = writes || unrecorded ? undefined : await call(low, `tenantId=${low.tenantId}`, target);
      const response = await call(above, `tenantId=${low.tenantId}`, target);
      assert.equal(outcomeOf(response), '200 OK', response.text);
      // An exported file has no data.
      if (own && !differs) assert.deepEqual(response.data ?? response.text, own.data ?? own.text);
      if (!writes) return;
      const written = await service.superuser<{ name: string; code: string }[]>`
        select distinct actor_name as name, actor_tenant_id as code from banyan.changes
        where tenant_id = ${low.tenantId} and change_id > ${last} and resource <> 'login'`;
      assert.deepEqual([...written], [{ name: 'boss', code: above.tenantId }]);
      // The ledger of the changed tenant names the caller and the caller's tenant to its own administrators.
      const { data } = await low.get('/system/change-api/list?below=false&limit=1');
      assert.deepEqual([data.rows[0].by, data.rows[0].byTenantId], ['boss', above.tenantId]);
    });
  }
}

async function createTarget(admin: Client, root: Client): Promise<ActingTarget> {
  const id = await admin.createDepartment({ deptName: 'parent' });
  const external = { source: 'hr', externalId: '1' };
  const leaf = await admin.createDepartment({ deptName: 'leaf', parentId: id, ...external });
  const user = await admin.createUser({ userName: 'anna', ...external });
  const [deletedDept, deletedUser] = [await admin.createDepartment(), await admin.createUser({ userName: 'otto' })];
  for (const path of [`${dept}/${deletedDept}`, `${people}/${deletedUser}`]) {
    assert.equal((await admin.delete(path)).code, 200);
  }
  await admin.createDepartment({ deptName: 'to be reverted' });
  const { data } = await admin.get('/system/change-api/list?below=false&limit=1');
  await root.put(`${quotas}/calls?tenantId=${admin.tenantId}`, { total: 10 });
  const { data: used } = await admin.post(`${quotas}/consume`, { quota: 'calls' });
  const reserve = async (): Promise<string> =>
    (await admin.post(`${quotas}/reserve`, { quota: 'calls', seconds: 86_400 })).data.reservationId;
  const forQuotas = { use: String(used.useId), reservations: [await reserve(), await reserve()] as [string, string] };
  return { ...forQuotas, dept: id, leaf, user, deletedDept, deletedUser, change: String(data.rows[0].id) };
}

const withoutCode = ({ status, text }: ApiResponse, code: string) =>
  `${status} ${text}`.replaceAll(new RegExp(`\\b${code}\\b`, 'g'), '#');
