import { describe, test } from 'node:test';
import { expectError, expectInvalid, expectOk, read, USERS } from '../support/expect.ts';
import { shareService } from '../support/service.ts';
import { startUsersBulk } from './users-bulk.ts';

const { service, root, admin, neighbour } = await startUsersBulk(shareService);

describe('A batch read of users', () => {
  const path = `${USERS}/batch-read`;

  test('a batch read returns each requested user in request order, and lists the ids of the others', async () => {
    const [a, b, deleted] = [
      await admin.createUser({ userName: 'read.a' }),
      await admin.createUser({ userName: 'read.b', deptId: await admin.createDepartment() }),
      await admin.createUser({ userName: 'read.c' }),
    ];
    expectOk(await admin.delete(`${USERS}/${deleted}`));
    const foreign = await neighbour.createUser({ userName: 'foreign.a' });
    const [first, second] = [await read(admin, `${USERS}/${a}`), await read(admin, `${USERS}/${b}`)];
    const ids = [Number(b), foreign, a, `00${b}`, deleted, '9007199254740993'];
    expectOk(await admin.post(path, { ids }), {
      rows: [second, first, second],
      missing: [Number(foreign), Number(deleted), '9007199254740993'],
    });
    expectOk(await root.post(`${path}?tenantId=${admin.tenantId}`, { ids: [a] }), { rows: [first], missing: [] });
    expectOk(await admin.post(path, { ids: [] }), { rows: [], missing: [] });
  });

  test('a batch read takes up to 500 ids, from administrators only', async () => {
    expectOk(await admin.post(path, { ids: Array(500).fill(1) }), { rows: [], missing: Array(500).fill(1) });
    expectInvalid(await admin.post(path, { ids: Array(501).fill(1) }), 'ids');
    expectInvalid(await admin.post(path, { ids: ['x'] }), 'ids[0]');
    expectError(await (await service.createMember(admin)).post(path, { ids: [1] }), 403, 'NOT_ALLOWED');
  });
});
