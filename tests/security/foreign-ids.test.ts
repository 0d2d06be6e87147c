import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperations } from '../support/document.ts';
import { sendRaw } from '../support/raw.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import { calls, dept, hook, type Kind, people, resting, tenant } from './foreign-ids.ts';

/**
 * Every operation upon ids that are one's own, another's, nobody's and deleted. What is another's is answered as what is
 * nobody's: the same bytes, headers and their order included.
 */

const service = await startService();
const above = await service.createTenant();
const mine = await service.createTenant({}, above);
const beside = await service.createTenant({}, above);

/** One of each kind in a tenant, and one of each that was deleted. */
async function furnish(boss: Client): Promise<Record<Kind, { live: string; gone: string }>> {
  const made = async (path: string, body: object) => {
    const [live, gone] = [await boss.create(path, body), await boss.create(path, body)];
    return { live, gone };
  };
  const depts = await made(dept, { deptName: 'furnished' });
  const [anna, otto] = [await boss.createUser({ userName: 'anna' }), await boss.createUser({ userName: 'otto' })];
  const tenants = await made(tenant, { tenantName: 'furnished' });
  const hooks = await made(hook, resting);
  const codeOf = async (id: string) => (await boss.get(`${tenant}/${id}`)).data.tenantId;
  const codes = { live: await codeOf(tenants.live), gone: await codeOf(tenants.gone) };
  for (const path of [
    `${dept}/${depts.gone}`,
    `${people}/${otto}`,
    `${tenant}/${tenants.gone}`,
    `${hook}/${hooks.gone}`,
  ]) {
    assert.equal((await boss.delete(path)).code, 200);
  }
  return { dept: depts, user: { live: anna, gone: otto }, tenant: tenants, code: codes, hook: hooks };
}

const own = await furnish(mine);
const foreign = { beside: await furnish(beside), above: await furnish(above) };
/** Of which there is none, of the same length: an answer may repeat what its request named. */
const absentLike = (id: string) => `8${'7'.repeat(id.length - 1)}`;

/** An answer as it came over the wire, but its date and the id that the call named. */
async function bytesOf(client: Client, { method, path, body, headers = {} }: Sent, id: string): Promise<string> {
  const payload = body === undefined ? '' : JSON.stringify(body);
  const lines = {
    Host: 'banyan',
    Connection: 'close',
    Authorization: `Bearer ${client.token}`,
    'X-Request-Id': 'the-same',
    ...(payload ? { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(payload) } : {}),
    ...headers,
  };
  const head = Object.entries(lines).map(([name, value]) => `${name}: ${value}`);
  const { all } = await sendRaw(service.base, [`${method} ${path} HTTP/1.1`, ...head, '', payload].join('\r\n'));
  assert.match(all, /^HTTP\/1\.1 \d{3} [^\r]+\r\n(.+\r\n)*x-request-id: the-same\r\n/i);
  // The length of an answer may look like an id.
  return all.replace(/^date: .*\r\n/im, '').replaceAll(new RegExp(`(?<!content-length: )\\b${id}\\b`, 'g'), '#');
}
interface Sent {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

for (const { what, kind, call, expected = 404, told = false, ownGone, ownLive = 200 } of calls) {
  test(`another's is answered as nobody's: ${what}`, async () => {
    const with_ = (id: string) => call(id, { own, mine });
    const statusOf = (bytes: string) => Number(bytes.slice(9, 12));
    const askedOf = (id: string) => bytesOf(mine, with_(id), id);
    const absentOnes = new Map<string, Promise<string>>();
    const askedOfAbsent = (id: string): Promise<string> => {
      const absent = absentLike(id);
      const asked = absentOnes.get(absent) ?? askedOf(absent);
      absentOnes.set(absent, asked);
      return asked;
    };
    for (const [whose, { [kind]: theirs }] of Object.entries(foreign)) {
      // A deleted one is as good as none. That a tenant exists the law itself tells, of a new parent alone.
      const same = told ? [theirs.gone] : [theirs.live, theirs.gone];
      for (const id of same) {
        const nobodys = await askedOfAbsent(id);
        assert.equal(await askedOf(id), nobodys, `${whose}, ${id === theirs.live ? 'live' : 'deleted'}`);
        assert.equal(statusOf(nobodys), expected, nobodys);
      }
      if (told) assert.equal(statusOf(await askedOf(theirs.live)), 403);
    }
    // One's own that was deleted: as nobody's too, unless it is asked for.
    const gone = await askedOf(own[kind].gone);
    if (ownGone === undefined) assert.equal(gone, await askedOfAbsent(own[kind].gone));
    else assert.equal(statusOf(gone), ownGone, gone);
    // And the call is a good one: with one's own it comes to something.
    const fresh = what.startsWith('DELETE') ? await another(kind) : own[kind].live;
    const answer = await askedOf(fresh);
    assert.equal(statusOf(answer), ownLive, answer);
  });
}

/** One more of one's own, to be deleted. */
let count = 0;
async function another(kind: Kind): Promise<string> {
  if (kind === 'dept') return mine.createDepartment();
  if (kind === 'hook') return mine.create(hook, resting);
  if (kind === 'user') return mine.createUser({ userName: `another${++count}` });
  const id = await mine.create(tenant, {});
  return kind === 'tenant' ? id : (await mine.get(`${tenant}/${id}`)).data.tenantId;
}

test('every operation that takes an id of any kind is among the calls', async () => {
  const named = new Set(calls.map(({ what }) => what.split(' ').slice(0, 2).join(' ')));
  // The changes of a tenant are asked for by its code: tests/contract/changes.test.ts.
  const none = [
    '/auth/',
    '/health/',
    '/version',
    '/system/overview-api',
    '/system/change-api',
    `${hook}/list`,
    `${dept}/diff`,
  ];
  const operations = (await readOperations(service)).map(({ method, path }) => `${method} ${path}`);
  const missing = operations.filter(
    (name) => name !== `POST ${hook}` && !named.has(name) && !none.some((start) => name.includes(` ${start}`)),
  );
  assert.deepEqual(missing, []);
});

test("a login at another's tenant, a deleted one and none are answered alike", async () => {
  const codes = [mine.tenantId, own.code.gone, beside.tenantId, foreign.beside.code.gone];
  for (const code of codes) {
    const asked = (tenantId: string, username: string) =>
      bytesOf(
        service.anonymous,
        { method: 'POST', path: '/auth/login', body: { tenantId, username, password: 'wrong horse' } },
        tenantId,
      );
    assert.equal(await asked(code, `a${code}`), await asked(absentLike(code), `a${code}`));
  }
  assert.equal((await service.logIn(mine.tenantId, 'boss', PASSWORD)).tenantId, mine.tenantId);
});

test("filters by another's markers find nothing, whichever filter it is", async () => {
  await beside.createDepartment({ deptName: 'only beside', leader: 'only beside' });
  await service.createMember(beside, { userName: 'only-beside' });
  await beside.create(tenant, { tenantName: 'only beside' });
  for (const path of [
    `${dept}/list?deptName=only`,
    `${dept}/list?leader=only`,
    `${dept}/list?leader=y&deptName=only%20beside`,
    `${people}/list?userName=only`,
    `${tenant}/list?tenantName=only`,
    `${tenant}/list?keyword=only`,
    `${tenant}/list?tenantId=${beside.tenantId}`,
    `${tenant}/list?tenantParent=${beside.tenantId}`,
    `${tenant}/list?tenantParent=${above.tenantId}&tenantId=${beside.tenantId}`,
  ]) {
    assert.deepEqual((await mine.get(path)).data, { rows: [], total: 0 }, path);
  }
  // The same words find it for who may: the filters are good ones.
  assert.equal((await beside.get(`${dept}/list?deptName=only`)).data.total, 1);
  assert.equal((await beside.get(`${dept}/list?leader=only`)).data.total, 1);
  assert.equal((await above.get(`${tenant}/list?tenantName=only`)).data.total, 1);
  assert.equal((await above.get(`${tenant}/list?keyword=only`)).data.total, 1);
});
