import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { CHANGES, DEPTS, TENANTS } from '../support/expect.ts';
import { type Client, shareService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The feed of a tenant and of all tenants below it, in one order. */

const service = await shareService();

interface Row {
  id: number;
  tenantId: string;
  by: string;
  resource: string;
  resourceId: string;
  action: string;
  before: { tenantParent?: string | null } | null;
  after: { tenantParent?: string | null } | null;
}

async function readBelow(client: Client, { after = '0', limit = 1000, query = '' } = {}) {
  const response = await client.get(`${CHANGES}?below=true&after=${after}&limit=${limit}${query}`);
  assert.equal(response.code, 200, response.text);
  return response.data as { rows: Row[]; next: string };
}

async function readAllBelow(client: Client, limit: number): Promise<Row[]> {
  const rows: Row[] = [];
  for (let after = '0'; ; ) {
    const page = await readBelow(client, { after, limit });
    rows.push(...page.rows);
    if (page.next === after) return rows;
    after = page.next;
  }
}

const show = ({ tenantId, resource, action }: Row) => `${tenantId} ${resource} ${action}`;
const idsOf = (rows: { id: number }[]) => rows.map(({ id }) => id);

test('below=true returns the changes of a tenant and of all tenants below, once each and in one order', async () => {
  const top = await service.createTenant();
  const middle = await service.createTenant({}, top);
  const low = await service.createTenant({}, middle);
  const sibling = await service.createTenant();
  for (const client of [low, top, sibling, middle, low]) await client.createDepartment();
  await low.createUser({ userName: 'anna' });
  const rows = await readAllBelow(top, 1000);
  assert.deepEqual(rows.map(show), [
    `${top.tenantId} tenant created`,
    `${top.tenantId} user created`,
    `${middle.tenantId} tenant created`,
    `${middle.tenantId} user created`,
    `${low.tenantId} tenant created`,
    `${low.tenantId} user created`,
    `${low.tenantId} department created`,
    `${top.tenantId} department created`,
    `${middle.tenantId} department created`,
    `${low.tenantId} department created`,
    `${low.tenantId} user created`,
  ]);
  // Pages of any size have the same rows, and the audit log and each feed have the same changes.
  for (const limit of [1, 3]) assert.deepEqual(await readAllBelow(top, limit), rows);
  const { data: audit } = await top.get(`${CHANGES}/list?limit=500`);
  const audited = audit.rows.filter(({ resource }: Row) => resource !== 'login');
  assert.deepEqual(idsOf(audited).reverse(), idsOf(rows));
  for (const { tenantId } of [middle, low]) {
    const { data } = await top.get(`${CHANGES}?limit=1000&tenantId=${tenantId}`);
    const own = data.rows.filter((row: Row) => row.resource !== 'tenant' || row.resourceId !== low.id);
    const expected = rows.filter((row) => row.tenantId === tenantId && row.resourceId !== low.id);
    assert.deepEqual(idsOf(own), idsOf(expected));
  }
  // With tenantId, the feed is that of a tenant below, the same as the administrator of that tenant reads.
  const part = await readBelow(top, { query: `&tenantId=${middle.tenantId}` });
  assert.deepEqual(
    part.rows,
    rows.filter(({ tenantId }) => tenantId !== top.tenantId),
  );
  const { rows: own } = await readBelow(middle);
  assert.deepEqual(idsOf(own), idsOf(part.rows));
});

test('the feed with below=true leaves out webhooks, API keys and logins', async () => {
  const top = await service.createTenant();
  const low = await service.createTenant({}, top);
  const { next } = await readBelow(top);
  await low.post('/system/key-api', { keyName: 'k', permissions: ['dept:read'] });
  await low.create('/system/webhook-api', { url: 'https://93.184.216.34/', status: '1' });
  await service.logIn(low.tenantId, 'boss');
  const id = await low.createDepartment();
  for (const query of ['', `&tenantId=${low.tenantId}`]) {
    const { rows } = await readBelow(top, { after: next, query });
    assert.deepEqual(
      rows.map(({ resource, resourceId }) => [resource, resourceId]),
      [['department', id]],
    );
  }
});

test('without below=true, the rows of the feed have no tenantId', async () => {
  const top = await service.createTenant();
  await (await service.createTenant({}, top)).createDepartment();
  const { data } = await top.get(CHANGES);
  assert.deepEqual(
    data.rows.map(({ resource, action, tenantId }: Row) => `${resource} ${action} ${tenantId}`),
    ['tenant created undefined', 'user created undefined', 'tenant created undefined'],
  );
});

test('a long poll with below=true ends with the first change of a tenant below, and not with one of another tenant', async () => {
  const top = await service.createTenant();
  const low = await service.createTenant({}, top);
  const sibling = await service.createTenant();
  /** Polls again only when the whole wait is over: on a slow machine the department may be created later. */
  const poll = async (client: Client, after: string): Promise<string[][]> => {
    const startedAt = performance.now();
    const { rows } = await readBelow(client, { after, query: '&wait=60' });
    if (rows.length > 0) return rows.map(({ tenantId, resourceId }) => [tenantId, resourceId]);
    assert.ok(performance.now() - startedAt >= 60_000, 'the poll ended without a change');
    return poll(client, after);
  };
  const positions = [(await readBelow(top)).next, (await readBelow(sibling)).next] as const;
  const [waiting, waitingSibling] = [poll(top, positions[0]), poll(sibling, positions[1])];
  let isOver = false;
  void waiting.then(() => {
    isOver = true;
  });
  await waitFor('both wait', () => service.app.loadShedder.usage().subscriptions.long_poll >= 2);
  // The change of the sibling ends its own poll. The service checks for both polls together, and the other one still waits.
  const other = await sibling.createDepartment();
  assert.deepEqual(await waitingSibling, [[sibling.tenantId, other]]);
  assert.ok(!isOver, 'the poll ended with a change of another tenant');
  const id = await low.createDepartment();
  assert.deepEqual(await waiting, [[low.tenantId, id]]);
});

/** Reads the stream of a subtree until `isLast` accepts one of its events. Returns the events up to it. */
const readStream = (client: Client, after: string, isLast: (event: string) => boolean): Promise<string[]> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${client.token}` };
    const request = http.get(`${service.base}${CHANGES}/stream?below=true&after=${after}`, { headers }, (response) => {
      let text = '';
      if (response.statusCode !== 200) reject(new Error(`The stream responded ${response.statusCode}`));
      response.on('end', () => reject(new Error(`The stream ended: ${text}`)));
      response.setEncoding('utf8').on('data', (chunk) => {
        text += chunk;
        const events = text.split('\n\n').slice(0, -1);
        const last = events.findIndex(isLast);
        if (last === -1) return;
        resolve(events.slice(0, last + 1));
        request.destroy();
      });
      response.on('error', () => {});
    });
    // This has no effect once the promise is resolved.
    request.on('error', reject);
  });
const idOfEvent = (event: string | undefined) => /^id: (.*)$/m.exec(event ?? '')?.[1];

test('the stream with below=true sends the changes of all tenants below, with the cursor as id', async () => {
  const top = await service.createTenant();
  const low = await service.createTenant({}, top);
  const { next } = await readBelow(top);
  const events = readStream(top, next, (event) => event.includes('event: change'));
  const id = await low.createDepartment();
  const event = (await events).at(-1) as string;
  const row = JSON.parse(/^data: (.*)$/m.exec(event)?.[1] as string);
  assert.deepEqual([row.tenantId, row.resourceId], [low.tenantId, id]);
  assert.deepEqual((await readBelow(top, { after: idOfEvent(event) as string })).rows, []);
});

test('the stream advances the cursor past changes of other tenants that follow the last change of the subtree', async () => {
  const [top, other] = [await service.createTenant(), await service.createTenant()];
  const { next } = await readBelow(top);
  await top.createDepartment();
  await other.createDepartment();
  const end = (await readBelow(top, { after: next })).next;
  const events = await readStream(top, next, (event) => idOfEvent(event) === end);
  assert.equal(events.filter((event) => event.includes('event: change')).length, 1);
  assert.ok(!events.at(-1)?.includes('data:'), 'the cursor comes without an event');
});

test('a tenant that moves leaves one subtree and joins another, together with the tenants below it', async () => {
  const above = await service.createTenant();
  const [from, to] = [await service.createTenant({}, above), await service.createTenant({}, above)];
  const team = await service.createTenant({}, from);
  const group = await service.createTenant({}, team);
  // This update stores the row of `team` after that of its child `group`, but the move must record `team` first.
  await from.patch(`${TENANTS}/${team.id}`, { tenantName: 'team' });
  await group.createDepartment({ deptName: 'before' });
  const [atAbove, atFrom, atTo] = await Promise.all(
    [above, from, to].map(async (each) => (await readBelow(each)).next),
  );
  const { data } = await above.get(`${TENANTS}/${team.id}`);
  assert.equal((await above.put(TENANTS, { ...data, tenantParent: to.tenantId })).code, 200);
  await group.createDepartment({ deptName: 'after' });
  const shown = async (client: Client, after: string | undefined) =>
    (await readBelow(client, { after: after ?? '0' })).rows.map(
      (row) => `${show(row)} ${row.before?.tenantParent} ${row.after?.tenantParent}`,
    );
  const [f, t] = [from.tenantId, to.tenantId];
  const created = `${group.tenantId} department created undefined undefined`;
  assert.deepEqual(await shown(above, atAbove), [`${team.tenantId} tenant moved ${f} ${t}`, created]);
  assert.deepEqual(await shown(from, atFrom), [
    `${team.tenantId} tenant moved ${f} undefined`,
    `${group.tenantId} tenant moved ${team.tenantId} undefined`,
  ]);
  // The new subtree does not learn where the tenant was before.
  assert.deepEqual(await shown(to, atTo), [
    `${team.tenantId} tenant moved null ${t}`,
    `${group.tenantId} tenant moved undefined ${team.tenantId}`,
    created,
  ]);
  // Changes that readers of the former subtree had not read by then are no longer shown there.
  const all = await readBelow(from);
  assert.ok(!all.rows.some(({ tenantId, resource }) => tenantId === group.tenantId && resource === 'department'));
});

test('an administrator who changes a tenant below is named in the feeds of both tenants, but the tenant below does not see their address', async () => {
  const top = await service.createTenant();
  const low = await service.createTenant({}, top);
  // Both tenants have a user `boss`.
  const above = await service.createMember(top, { userName: 'above', roles: ['admin'] });
  assert.equal((await above.post(`${DEPTS}?tenantId=${low.tenantId}`, {})).code, 200);
  for (const client of [top, low]) {
    const row = (await readBelow(client)).rows.at(-1);
    assert.deepEqual([row?.tenantId, row?.by, row?.resource], [low.tenantId, 'above', 'department']);
  }
  const { data } = await low.get(`${CHANGES}/list?limit=1`);
  assert.deepEqual([data.rows[0].byTenantId, data.rows[0].address], [top.tenantId, null]);
});
