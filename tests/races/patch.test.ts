import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectOk, read, TENANTS, USERS } from '../support/expect.ts';
import { scale } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';

const service = await shareService();
const { root } = service;
const admin = await service.createTenant();
const ROUNDS = scale(3, 100);

/** Patches each field of a record at the same moment, several times, and expects the last value of every field. */
async function patchConcurrently(path: string, fields: string[], client: Client = admin): Promise<void> {
  for (let round = 0; round < ROUNDS; round++) {
    const values = Object.fromEntries(fields.map((field) => [field, `${field} ${round}`]));
    const patches = Object.entries(values).map(([field, value]) => client.patch(path, { [field]: value }));
    for (const response of await Promise.all(patches)) expectOk(response);
    const stored = await read(client, path);
    assert.deepEqual(Object.fromEntries(fields.map((field) => [field, stored[field]])), values);
  }
}

test('concurrent patches of different fields of a department all survive', async () => {
  const id = await admin.createDepartment();
  await patchConcurrently(`${DEPTS}/${id}`, ['deptName', 'leader', 'phone']);
});

test('concurrent patches of different fields of a user all survive', async () => {
  const id = await admin.createUser({ userName: 'patched' });
  await patchConcurrently(`${USERS}/${id}`, ['nickName', 'phone']);
});

test('concurrent patches of different fields of a tenant all survive', async () => {
  const id = await root.create(TENANTS, {});
  await patchConcurrently(`${TENANTS}/${id}`, ['tenantName', 'companyName', 'contactUserName'], root);
});

test('concurrent patches of different quotas all survive', async () => {
  const id = await root.create(TENANTS, {});
  for (let round = 1; round <= ROUNDS; round++) {
    const quotas = ['riskReport', 'merchant', 'chainReport'];
    const patches = quotas.map((quota) => root.patch(`${TENANTS}/${id}`, { quotaBo: { [quota]: round } }));
    for (const response of await Promise.all(patches)) expectOk(response);
    const { quotaBo } = await read(root, `${TENANTS}/${id}`);
    assert.deepEqual(
      quotas.map((quota) => quotaBo[quota]),
      [round, round, round],
    );
  }
});

test('a patch that moves a department and one that renames it both survive', async () => {
  const [home, away] = [await admin.createDepartment(), await admin.createDepartment()];
  const id = await admin.createDepartment({ parentId: home });
  for (let round = 0; round < ROUNDS; round++) {
    const parentId = Number(round % 2 ? home : away);
    const patches = [{ parentId }, { deptName: `name ${round}` }, { leader: `leader ${round}` }];
    for (const response of await Promise.all(patches.map((patch) => admin.patch(`${DEPTS}/${id}`, patch))))
      expectOk(response);
    const { parentId: parent, deptName, leader } = await read(admin, `${DEPTS}/${id}`);
    assert.deepEqual([parent, deptName, leader], [parentId, `name ${round}`, `leader ${round}`]);
  }
});
