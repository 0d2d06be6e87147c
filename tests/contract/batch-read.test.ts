import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEPTS, expectError, expectInvalid, expectOk, readDept } from '../support/expect.ts';
import { shareService } from '../support/service.ts';

/** POST /system/dept-api/batch-read reads many departments in one request. */

const service = await shareService();
const admin = await service.createTenant();
const path = `${DEPTS}/batch-read`;
const read = (ids: unknown, client = admin) => client.post(path, { ids });

const top = await admin.createDepartment({ deptName: '总部', leader: '张三' });
const child = await admin.createDepartment({ deptName: '研发', parentId: top });

test('a batch read returns each requested department, in request order and as often as requested', async () => {
  const [a, b] = [await readDept(admin, top), await readDept(admin, child)];
  expectOk(await read([Number(child), top, `00${child}`]), { rows: [b, a, b], missing: [] });
  expectOk(await read([]), { rows: [], missing: [] });
});

test('unknown and deleted departments and those of another tenant are listed as missing, in request order', async () => {
  const deleted = await admin.createDepartment();
  expectOk(await admin.delete(`${DEPTS}/${deleted}`));
  const foreign = await (await service.createTenant()).createDepartment();
  const ids = [foreign, top, 999999999, deleted, 0, foreign, '9007199254740993', '9223372036854775807'];
  expectOk(await read(ids), {
    rows: [await readDept(admin, top)],
    missing: [
      ...[Number(foreign), 999999999, Number(deleted), 0, Number(foreign)],
      ...['9007199254740993', '9223372036854775807'],
    ],
  });
});

test('a batch read takes up to 500 ids from any user of the tenant and ignores Idempotency-Key', async () => {
  const member = await service.createMember(admin);
  const many = Array.from({ length: 500 }, () => top);
  const { data } = await read(many, member);
  assert.equal(data.rows.length, 500);
  expectInvalid(await read([...many, top]), 'ids');
  expectError(await read([top], service.anonymous as never), 401, 'NO_TOKEN');
  // An Idempotency-Key is accepted but stores no response to replay.
  const key = { headers: { 'idempotency-key': 'k' } };
  await admin.post(path, { ids: [top] }, key);
  const again = await admin.post(path, { ids: [child] }, key);
  assert.deepEqual([again.code, again.headers['idempotent-replayed']], [200, undefined]);
});

test('ids that are not a list of valid ids are rejected with the name of the field', async () => {
  for (const ids of ['100', 100, {}]) expectInvalid(await read(ids), 'ids');
  for (const ids of [['x'], [-1], [1.5], [2 ** 53], ['9223372036854775808']]) expectInvalid(await read(ids), 'ids[0]');
  expectInvalid(await admin.post(path, {}), 'ids', 'FIELD_REQUIRED');
});
