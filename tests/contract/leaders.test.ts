import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { PASSWORD } from '../support/database.ts';
import {
  CHANGES,
  DEPTS,
  databaseTime,
  expectError,
  expectInvalid,
  expectOk,
  me,
  read,
  readDept,
  USERS,
} from '../support/expect.ts';
import { shareService } from '../support/service.ts';

/** A department can have a user as its leader, `leaderId`, in addition to the text `leader`. */

const service = await shareService();
const admin = await service.createTenant();
let count = 0;
const createPerson = (nickName: string | null = null, body: object = {}) =>
  admin.createUser({ userName: `leader${++count}`, nickName, ...body });
const leaderOf = ({ leader, leaderId }: { leader: unknown; leaderId: unknown }) => [leader, leaderId];
const shown = async (id: string | number, query = '') => leaderOf(await readDept(admin, id, query));

describe('The leader of a department', () => {
  test('is shown with their nickname, or else their user name, as it is now', async () => {
    const user = await createPerson('张三');
    const id = await admin.createDepartment({ leaderId: user });
    assert.deepEqual(await shown(id), ['张三', Number(user)]);
    expectOk(await admin.patch(`${USERS}/${user}`, { nickName: '张三丰' }));
    assert.deepEqual(await shown(id), ['张三丰', Number(user)]);
    expectOk(await admin.patch(`${USERS}/${user}`, { nickName: '' }));
    assert.deepEqual(await shown(id), [`leader${count}`, Number(user)]);
  });

  test('is shown with the text that is sent, if it differs from their name', async () => {
    const user = await createPerson('李四');
    const id = await admin.createDepartment({ leaderId: Number(user), leader: '李总' });
    assert.deepEqual(await shown(id), ['李总', Number(user)]);
    expectOk(await admin.put(DEPTS, { deptId: id, leader: null }));
    assert.deepEqual(await shown(id), ['李四', Number(user)]);
    assert.deepEqual(await shown(await admin.createDepartment({ leader: '王五' })), ['王五', null]);
  });

  test('is shown by their current name even after a caller sends back what they read', async () => {
    const user = await createPerson('赵六');
    const top = await admin.createDepartment();
    const id = await admin.createDepartment({ leaderId: user, leader: '赵六' });
    const { leaderId: _, ...known } = await readDept(admin, id);
    for (const body of [await readDept(admin, id), known, { ...known, parentId: top }])
      expectOk(await admin.put(DEPTS, body));
    expectOk(await admin.patch(`${USERS}/${user}`, { nickName: '赵七' }));
    assert.deepEqual(await shown(id), ['赵七', Number(user)]);
  });

  test('is replaced when a caller changes only leaderId of what they read', async () => {
    const [first, second] = [await createPerson('张前任'), await createPerson('李继任')];
    const id = await admin.createDepartment({ leaderId: first });
    expectOk(await admin.put(DEPTS, { ...(await readDept(admin, id)), leaderId: second }));
    assert.deepEqual(await shown(id), ['李继任', Number(second)]);
    // Without the user, the name that is sent stays as a text, and so does any other text.
    expectOk(await admin.put(DEPTS, { ...(await readDept(admin, id)), leaderId: null }));
    assert.deepEqual(await shown(id), ['李继任', null]);
    for (const leaderId of [first, second]) expectOk(await admin.put(DEPTS, { deptId: id, leader: '代管', leaderId }));
    assert.deepEqual(await shown(id), ['代管', Number(second)]);
  });

  test('stays when a replacement omits it, and is removed with null', async () => {
    const user = await createPerson('甲');
    const id = await admin.createDepartment({ leaderId: user });
    expectOk(await admin.put(DEPTS, { deptId: id, deptName: 'renamed' }));
    assert.deepEqual(await shown(id), ['甲', Number(user)]);
    expectOk(await admin.put(DEPTS, { deptId: id, leaderId: null }));
    assert.deepEqual(await shown(id), [null, null]);
  });

  test('is set by a patch and in bulk', async () => {
    const [first, second] = [await createPerson('乙'), await createPerson('丙')];
    const id = await admin.createDepartment({ leader: '文本' });
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leaderId: first }));
    assert.deepEqual(await shown(id), ['文本', Number(first)]);
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leader: null, leaderId: String(second) }));
    assert.deepEqual(await shown(id), ['丙', Number(second)]);
    expectOk(await admin.patch(`${DEPTS}/${id}`, { leaderId: null }));
    assert.deepEqual(await shown(id), [null, null]);
    const departments = [{ ref: 'a', leaderId: first }, { ref: 'b' }, { ref: 'c', leaderId: second, leader: '丙' }];
    const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
    const leaders = await Promise.all(data.deptIds.map((deptId: number) => shown(deptId)));
    assert.deepEqual(leaders, [
      ['乙', Number(first)],
      [null, null],
      ['丙', Number(second)],
    ]);
  });

  test('is an existing user of the tenant', async () => {
    const deleted = await createPerson();
    expectOk(await admin.delete(`${USERS}/${deleted}`));
    const foreign = await (await service.createTenant()).createUser({ userName: 'foreign' });
    const id = await admin.createDepartment();
    for (const leaderId of [deleted, foreign, '0', '9007199254740993', '9223372036854775807']) {
      const wanted = Number.isSafeInteger(Number(leaderId)) ? Number(leaderId) : leaderId;
      const expected = (field: string) => [400, 'LEADER_NOT_FOUND', { leaderId: wanted, field }] as const;
      expectError(await admin.post(DEPTS, { leaderId }), ...expected('leaderId'));
      expectError(await admin.put(DEPTS, { deptId: id, leaderId }), ...expected('leaderId'));
      expectError(await admin.patch(`${DEPTS}/${id}`, { leaderId }), ...expected('leaderId'));
      const departments = [{ ref: 'a' }, { ref: 'b', leaderId }];
      expectError(await admin.post(`${DEPTS}/bulk`, { departments }), ...expected('departments[1].leaderId'));
      const users = [{ ref: 'a', userName: 'never', password: PASSWORD }];
      expectError(await admin.post(`${USERS}/bulk`, { departments, users }), ...expected('departments[1].leaderId'));
    }
    for (const leaderId of ['x', -1, 1.5, 2 ** 53]) expectInvalid(await admin.post(DEPTS, { leaderId }), 'leaderId');
    assert.deepEqual(await shown(id), [null, null]);
  });

  test('leads nothing once they are deleted, and leads again when they are restored', async () => {
    const user = await createPerson('丁');
    const [id, withText] = [
      await admin.createDepartment({ leaderId: user }),
      await admin.createDepartment({ leaderId: user, leader: '文本' }),
    ];
    expectOk(await admin.delete(`${USERS}/${user}`));
    assert.deepEqual(await shown(id), [null, null]);
    assert.deepEqual(await shown(withText), ['文本', null]);
    const { rows } = await read(admin, `${DEPTS}/list?pageSize=500`);
    const row = rows.find(({ deptId }: { deptId: number }) => deptId === Number(id));
    assert.deepEqual(leaderOf(row), [null, null]);
    expectOk(await admin.put(DEPTS, { deptId: id, deptName: 'changed meanwhile' }));
    expectOk(await admin.post(`${USERS}/${user}/restore`));
    assert.deepEqual(await shown(id), ['丁', Number(user)]);
  });

  test('is shown by every read', async () => {
    const user = await createPerson('Überall');
    const top = await admin.createDepartment();
    const id = await admin.createDepartment({ parentId: top, leaderId: user });
    const expected = ['Überall', Number(user)];
    const { rows: children } = await read(admin, `${DEPTS}/${top}/children`);
    const { rows: listed } = await read(admin, `${DEPTS}/list?underId=${top}`);
    const { data: batch } = await admin.post(`${DEPTS}/batch-read`, { ids: [id] });
    assert.deepEqual([...children, ...listed, ...batch.rows].map(leaderOf), [expected, expected, expected]);
    const [tree] = await read(admin, `${DEPTS}/tree?rootId=${top}`);
    assert.equal(tree.children[0].leader, 'Überall');
    const acting = await service.root.get(`${DEPTS}/${id}?tenantId=${admin.tenantId}`);
    assert.deepEqual(leaderOf(acting.data), expected);
  });

  test('is found by part of the name that is shown', async () => {
    const user = await createPerson('Ünique Name');
    const top = await admin.createDepartment();
    const [byUser, byText, other] = [
      await admin.createDepartment({ parentId: top, leaderId: user, deptName: 'one' }),
      await admin.createDepartment({ parentId: top, leader: 'the ünique one', deptName: 'two' }),
      await admin.createDepartment({ parentId: top, leaderId: user, leader: 'another text' }),
    ];
    const found = async (query: string) => {
      const { rows } = await read(admin, `${DEPTS}/list?leader=${encodeURIComponent('üNIQUE')}&${query}`);
      return rows.map(({ deptId }: { deptId: number }) => String(deptId));
    };
    for (const query of ['', 'cursor=', `parentId=${top}`, `underId=${top}`, `underId=${top}&cursor=`])
      assert.deepEqual(await found(query), [byUser, byText], query);
    assert.deepEqual(await found('deptName=one'), [byUser]);
    const asOf = await databaseTime(service);
    expectOk(await admin.patch(`${USERS}/${user}`, { nickName: 'someone' }));
    assert.deepEqual(await found(''), [byText]);
    assert.deepEqual(await found(`asOf=${asOf}`), [byUser, byText]);
    assert.deepEqual(await shown(other), ['another text', Number(user)]);
  });
});

describe('The former leader of a department', () => {
  test('is shown with the name of that time by reads of the past', async () => {
    const [first, second] = [await createPerson('旧名'), await createPerson('继任')];
    const top = await admin.createDepartment();
    const id = await admin.createDepartment({ parentId: top, leaderId: first });
    const before = await databaseTime(service);
    expectOk(await admin.patch(`${USERS}/${first}`, { nickName: '新名' }));
    const renamed = await databaseTime(service);
    expectOk(await admin.delete(`${USERS}/${first}`));
    const deleted = await databaseTime(service);
    expectOk(await admin.put(DEPTS, { deptId: id, leaderId: second }));
    const states: [string, unknown, unknown][] = [
      [before, '旧名', Number(first)],
      [renamed, '新名', Number(first)],
      [deleted, null, null],
      [await databaseTime(service), '继任', Number(second)],
    ];
    for (const [time, ...expected] of states) {
      assert.deepEqual(await shown(id, `?asOf=${time}`), expected);
      const { rows } = await read(admin, `${DEPTS}/${top}/children?asOf=${time}`);
      const { rows: listed } = await read(admin, `${DEPTS}/list?underId=${top}&asOf=${time}`);
      assert.deepEqual([...rows, ...listed].map(leaderOf), [expected, expected]);
      const [tree] = await read(admin, `${DEPTS}/tree?rootId=${top}&asOf=${time}`);
      assert.equal(tree.children[0].leader, expected[0]);
    }
    const { changed } = await read(admin, `${DEPTS}/diff?from=${before}&to=${states[3]?.[0]}`);
    assert.deepEqual(changed.find(({ deptId }: { deptId: number }) => deptId === Number(id)).fields, [
      { field: 'leader', from: '旧名', to: '继任' },
      { field: 'leaderId', from: Number(first), to: Number(second) },
    ]);
    const { rows: history } = await read(admin, `${DEPTS}/${id}/history?sort=time`);
    assert.deepEqual(leaderOf(history[0].after), ['旧名', Number(first)]);
    assert.deepEqual(leaderOf(history[1].after), ['继任', Number(second)]);
    assert.deepEqual(history[1].changed, ['leader', 'leaderId']);
  });

  test('is restored by a revert and by a restore', async () => {
    const [first, second] = [await createPerson('一'), await createPerson('二')];
    const id = await admin.createDepartment({ leaderId: first });
    expectOk(await admin.put(DEPTS, { deptId: id, leaderId: second }));
    const { rows } = await read(admin, `${CHANGES}/list?below=false&limit=1`);
    assert.equal((await admin.post(`${CHANGES}/${rows[0].id}/revert`)).code, 200);
    assert.deepEqual(await shown(id), ['一', Number(first)]);
    expectOk(await admin.delete(`${DEPTS}/${id}`));
    expectOk(await admin.post(`${DEPTS}/${id}/restore`, {}));
    assert.deepEqual(await shown(id), ['一', Number(first)]);
  });
});

describe('GET /system/user-api/{id}/leaders', () => {
  const leadersOf = async (client: { get: typeof admin.get }, id: string, query = '') => {
    const { code, data, text } = await client.get(`${USERS}/${id}/leaders${query}`);
    assert.equal(code, 200, text);
    return data.map(({ userId, deptId }: { userId: number; deptId: number }) => [String(userId), String(deptId)]);
  };

  test('returns the leaders from the main department upward', async () => {
    const [boss, head, gone] = [await createPerson('总裁'), await createPerson(null), await createPerson()];
    const top = await admin.createDepartment({ leaderId: boss, deptName: '总部' });
    const empty = await admin.createDepartment({ parentId: top, leader: 'only a text' });
    const led = await admin.createDepartment({ parentId: empty, leaderId: head });
    const lost = await admin.createDepartment({ parentId: led, leaderId: gone });
    expectOk(await admin.delete(`${USERS}/${gone}`));
    const other = await admin.createDepartment({ leaderId: head });
    const member = await service.createMember(admin, { deptId: lost, deptIds: [other] });
    assert.deepEqual(await leadersOf(admin, member.id), [
      [head, led],
      [boss, top],
    ]);
    const { data } = await admin.get(`${USERS}/${member.id}/leaders`);
    const expected = { deptId: Number(top), deptName: '总部', userId: Number(boss), nickName: '总裁', status: '0' };
    assert.deepEqual(data[1], { ...expected, userName: data[1].userName });
    // A leader is not their own leader.
    expectOk(await admin.patch(`${USERS}/${head}`, { deptId: led }));
    assert.deepEqual(await leadersOf(admin, head), [[boss, top]]);
    expectOk(await admin.patch(`${USERS}/${boss}`, { deptId: top }));
    assert.deepEqual(await leadersOf(admin, boss), []);
    assert.deepEqual(await leadersOf(admin, await createPerson()), []);
    assert.deepEqual(await leadersOf(service.root, member.id, `?tenantId=${admin.tenantId}`), [
      [head, led],
      [boss, top],
    ]);
  });

  test('members read their own leaders only', async () => {
    const member = await service.createMember(admin);
    assert.deepEqual(await leadersOf(member, member.id), []);
    expectError(await member.get(`${USERS}/${(await me(admin)).userId}/leaders`), 403, 'NOT_ALLOWED');
    expectError(await admin.get(`${USERS}/9007199254740993/leaders`), 404, 'USER_NOT_FOUND');
    expectInvalid(await admin.get(`${USERS}/x/leaders`), 'id');
  });
});
