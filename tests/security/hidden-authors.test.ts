import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES, DEPTS, expectOk, TENANTS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { captureQueries, type Query } from '../support/statements.ts';

const queries: Query[] = [];
const service = await startService({}, { wrapDatabase: captureQueries(queries) });

const isSearch = ({ string }: Query) => string?.includes('as "byUserId"') ?? false;

test('a search for an author leaves out changes whose author is hidden, with one statement and full pages', async () => {
  const [from, to] = [await service.createTenant(), await service.createTenant()];
  const team = await service.createTenant({}, from);
  const former = await service.createMember(from, { userName: 'former', roles: ['admin'] });
  // The administrators of all these tenants are called boss.
  const names = ['a', 'b', 'c', 'd', 'e', 'f'];
  for (const deptName of names) {
    expectOk(await from.post(`${DEPTS}?tenantId=${team.tenantId}`, { deptName: `hidden ${deptName}` }));
    await team.createDepartment({ deptName });
  }
  for (const name of names) {
    expectOk(await former.post(`${DEPTS}?tenantId=${team.tenantId}`, { deptName: `former ${name}` }));
  }
  expectOk(await service.root.patch(`${TENANTS}/${team.id}`, { tenantParent: to.tenantId }));
  for (const [client, scope] of [
    [team, 'below=false'],
    [to, `tenantId=${team.tenantId}&below=false`],
    [to, 'below=true'],
  ] as const) {
    const search = async (query: string) => {
      queries.length = 0;
      const { data, text } = await client.get(`${CHANGES}/list?resource=department&${scope}&${query}`);
      assert.ok(data?.rows, text);
      const found = data.rows.map(({ after }: { after: { deptName: string } }) => after.deptName);
      return { found, next: data.next, statements: queries.filter(isSearch).length };
    };
    assert.equal((await search('')).found.length, 3 * names.length);
    const [hidden, unknown] = [await search('by=former&limit=1'), await search('by=nobody&limit=1')];
    assert.deepEqual(hidden, unknown);
    assert.equal(hidden.statements, 1);
    const first = await search('by=boss&limit=3');
    assert.deepEqual([first.found, first.statements], [['f', 'e', 'd'], 1]);
    const second = await search(`byPart=OSS&limit=3&cursor=${first.next}`);
    assert.deepEqual([second.found, second.next], [['c', 'b', 'a'], null]);
    const grouped = await search('by=boss&limit=1&grouped=true');
    assert.deepEqual(grouped.found, ['f']);
  }
});
