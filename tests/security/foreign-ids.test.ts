import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOperations } from '../support/openapi.ts';
import { sendRaw } from '../support/raw.ts';
import { isLong, sample } from '../support/scale.ts';
import { type Client, PASSWORD, startService } from '../support/service.ts';
import {
  apiKeys,
  calls,
  dept,
  disabledWebhook,
  hook,
  type Kind,
  newKey,
  people,
  quotas,
  tenant,
} from './foreign-ids.ts';

/**
 * Calls operations that take an id, with ids of the caller and of other tenants, unknown ids and deleted ones. The
 * response to an id of another tenant must equal that to an unknown id byte for byte, including the headers and
 * their order.
 */

const service = await startService();
const above = await service.createTenant();
const mine = await service.createTenant({}, above);
const sibling = await service.createTenant({}, above);

/** Creates one record of each kind, and one deleted record of each kind. */
async function createRecords(admin: Client): Promise<Record<Kind, { live: string; deleted: string }>> {
  const createTwo = async (path: string, body: object) => {
    const [live, deleted] = [await admin.create(path, body), await admin.create(path, body)];
    return { live, deleted };
  };
  const depts = await createTwo(dept, { deptName: 'created' });
  const [anna, otto] = [await admin.createUser({ userName: 'anna' }), await admin.createUser({ userName: 'otto' })];
  const tenants = await createTwo(tenant, { tenantName: 'created' });
  const hooks = await createTwo(hook, disabledWebhook);
  const keys = await createTwo(apiKeys, newKey);
  const readCode = async (id: string) => (await admin.get(`${tenant}/${id}`)).data.tenantId;
  const codes = { live: await readCode(tenants.live), deleted: await readCode(tenants.deleted) };
  // The external id of each is its own id.
  for (const [path, ids] of [
    [dept, [depts.live, depts.deleted]],
    [people, [anna, otto]],
  ] as const) {
    for (const id of ids) await admin.patch(`${path}/${id}`, { source: 'hr', externalId: id });
  }
  assert.equal((await service.root.put(`${quotas}/calls?tenantId=${admin.tenantId}`, { total: -1 })).code, 200);
  const uses = { live: await takeQuota(admin, 'use'), deleted: await takeQuota(admin, 'use') };
  const reservations = { live: await takeQuota(admin, 'reservation'), deleted: await takeQuota(admin, 'reservation') };
  assert.equal((await admin.post(`${quotas}/uses/${uses.deleted}/refund`)).code, 200);
  assert.equal((await admin.post(`${quotas}/reservations/${reservations.deleted}/release`)).code, 200);
  for (const path of [
    `${dept}/${depts.deleted}`,
    `${people}/${otto}`,
    `${tenant}/${tenants.deleted}`,
    `${hook}/${hooks.deleted}`,
    `${apiKeys}/${keys.deleted}`,
  ]) {
    assert.equal((await admin.delete(path)).code, 200);
  }
  return {
    ...{ dept: depts, user: { live: anna, deleted: otto }, tenant: tenants, code: codes, hook: hooks, key: keys },
    ...{ use: uses, reservation: reservations },
  };
}

/** Uses or reserves a quota, and returns the id. What was refunded or released counts as deleted. */
async function takeQuota(admin: Client, kind: 'use' | 'reservation'): Promise<string> {
  const { data } =
    kind === 'use'
      ? await admin.post(`${quotas}/consume`, { quota: 'calls' })
      : await admin.post(`${quotas}/reserve`, { quota: 'calls', seconds: 86_400 });
  return String(data[`${kind}Id`]);
}

const own = await createRecords(mine);
// A department with a user is not deleted.
await mine.createUser({ userName: 'member', deptId: own.dept.live });
const foreign = { sibling: await createRecords(sibling), above: await createRecords(above) };
/** An unknown id of the same length, because a response may repeat the id of its request. */
const unknownIdLike = (id: string) => `8${'7'.repeat(id.length - 1)}`;

/** A response as it came over the wire, without its date and the id that the call names. */
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
  // A Content-Length may happen to equal an id.
  return all.replace(/^date: .*\r\n/im, '').replaceAll(new RegExp(`(?<!content-length: )\\b${id}\\b`, 'g'), '#');
}
interface Sent {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

for (const [n, { what, kind, call, ...row }] of calls.entries()) {
  const { expected = 404, revealsExistence = false, ownDeleted, ownLive = 200 } = row;
  test(`an id of another tenant returns the same response as an unknown id: ${what}`, async () => {
    const requestFor = (id: string) => call(id, { own, mine });
    const statusOf = (bytes: string) => Number(bytes.slice(9, 12));
    const responseTo = (id: string) => bytesOf(mine, requestFor(id), id);
    const unknownResponses = new Map<string, Promise<string>>();
    const responseToUnknown = (id: string): Promise<string> => {
      const unknown = unknownIdLike(id);
      const response = unknownResponses.get(unknown) ?? responseTo(unknown);
      unknownResponses.set(unknown, response);
      return response;
    };
    for (const [whose, { [kind]: theirs }] of sample(Object.entries(foreign), 2, n)) {
      // A deleted record counts as unknown. Only for a new parent does the interface reveal that a tenant exists.
      // The everyday run leaves out the deleted records of others.
      const same = [
        ...(revealsExistence ? [] : [theirs.live]),
        ...(revealsExistence || isLong ? [theirs.deleted] : []),
      ];
      for (const id of same) {
        const unknownResponse = await responseToUnknown(id);
        assert.equal(await responseTo(id), unknownResponse, `${whose}, ${id === theirs.live ? 'live' : 'deleted'}`);
        assert.equal(statusOf(unknownResponse), expected, unknownResponse);
      }
      if (revealsExistence) assert.equal(statusOf(await responseTo(theirs.live)), 403);
    }
    // A deleted record of the caller also counts as unknown, unless the call includes deleted ones.
    const deletedResponse = await responseTo(own[kind].deleted);
    if (ownDeleted === undefined) assert.equal(deletedResponse, await responseToUnknown(own[kind].deleted));
    else assert.equal(statusOf(deletedResponse), ownDeleted, deletedResponse);
    // With an existing record of the caller the call works, so the call itself is valid.
    const endsRecord = what.startsWith('DELETE') || kind === 'use' || kind === 'reservation';
    const fresh = endsRecord ? await createAnother(kind) : own[kind].live;
    const ownResponse = await responseTo(fresh);
    assert.equal(statusOf(ownResponse), ownLive, ownResponse);
  });
}

let count = 0;
/** Creates another record of the caller, to be deleted or ended. */
async function createAnother(kind: Kind): Promise<string> {
  if (kind === 'use' || kind === 'reservation') return takeQuota(mine, kind);
  if (kind === 'dept') return mine.createDepartment();
  if (kind === 'key') return mine.create(apiKeys, newKey);
  if (kind === 'hook') return mine.create(hook, disabledWebhook);
  if (kind === 'user') return mine.createUser({ userName: `another${++count}` });
  const id = await mine.create(tenant, {});
  return kind === 'tenant' ? id : (await mine.get(`${tenant}/${id}`)).data.tenantId;
}

test('every operation that takes an id is covered here or excluded explicitly', async () => {
  const covered = new Set(calls.map(({ what }) => what.split(' ').slice(0, 2).join(' ')));
  // These paths take no id, or one that other tests cover: tests/security/cross-tenant-calls has the ids of sessions and changes,
  // and of the user of an entitlement; tests/contract/changes.test.ts reads the changes of a tenant by its code.
  const excludedPaths = [
    '/auth/',
    '/health/',
    '/version',
    '/system/overview-api',
    '/system/entitlement-api',
    // tests/security/cross-tenant-calls searches for an id.
    '/system/search-api',
    '/system/change-api',
    `${hook}/list`,
    `${apiKeys}/list`,
    `${dept}/diff`,
    // The ids of an import are in its file, and are those of another system.
    `${dept}/import`,
    `${people}/import`,
  ];
  // tests/security/acting.test.ts covers these, which take only the code of a tenant.
  const withTenantOnly = [
    ...['', '/below', '/uses', '/usage'].map((end) => `GET ${quotas}${end}`),
    ...['/consume', '/reserve'].map((end) => `POST ${quotas}${end}`),
    `PUT ${quotas}/{quota}`,
  ];
  const operations = (await readOperations(service)).map(({ method, path }) => `${method} ${path}`);
  const missing = operations.filter(
    (name) =>
      ![`POST ${hook}`, `POST ${apiKeys}`, ...withTenantOnly].includes(name) &&
      !covered.has(name) &&
      !excludedPaths.some((start) => name.includes(` ${start}`)),
  );
  assert.deepEqual(missing, []);
});

test('a failed login returns the same response for existing, deleted and unknown tenants', async () => {
  const codes = [mine.tenantId, own.code.deleted, sibling.tenantId, foreign.sibling.code.deleted];
  for (const code of codes) {
    const logIn = (tenantId: string, username: string) =>
      bytesOf(
        service.anonymous,
        { method: 'POST', path: '/auth/login', body: { tenantId, username, password: 'wrong horse' } },
        tenantId,
      );
    assert.equal(await logIn(code, `a${code}`), await logIn(unknownIdLike(code), `a${code}`));
  }
  assert.equal((await service.logIn(mine.tenantId, 'boss', PASSWORD)).tenantId, mine.tenantId);
});

test('no filter finds records of another tenant', async () => {
  await sibling.createDepartment({ deptName: 'only sibling', leader: 'only sibling' });
  await service.createMember(sibling, { userName: 'only-sibling' });
  await sibling.create(tenant, { tenantName: 'only sibling' });
  for (const path of [
    `${dept}/list?deptName=only`,
    `${dept}/list?leader=only`,
    `${dept}/list?leader=y&deptName=only%20sibling`,
    `${people}/list?userName=only`,
    `${tenant}/list?tenantName=only`,
    `${tenant}/list?keyword=only`,
    `${tenant}/list?tenantId=${sibling.tenantId}`,
    `${tenant}/list?tenantParent=${sibling.tenantId}`,
    `${tenant}/list?tenantParent=${above.tenantId}&tenantId=${sibling.tenantId}`,
  ]) {
    assert.deepEqual((await mine.get(path)).data, { rows: [], total: 0 }, path);
  }
  // The same filters find the records for callers with access, so the filters are valid.
  assert.equal((await sibling.get(`${dept}/list?deptName=only`)).data.total, 1);
  assert.equal((await sibling.get(`${dept}/list?leader=only`)).data.total, 1);
  assert.equal((await above.get(`${tenant}/list?tenantName=only`)).data.total, 1);
  assert.equal((await above.get(`${tenant}/list?keyword=only`)).data.total, 1);
});
