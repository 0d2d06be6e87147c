import assert from 'node:assert/strict';
import { Client, PASSWORD, type Service } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Tenant B uses operations of every domain whose tables have a tenant_id, and leaves records of each kind, named marker-B.
 * `above` is an administrator of the tenant above it.
 */
export async function useOperations(service: Service, above: Client, B: Client): Promise<void> {
  const [dept, people, tenant] = ['/system/dept-api', '/system/user-api', '/system/tenant-api'];
  const name = 'marker-B';
  const login = { tenantId: B.tenantId, username: 'boss' };
  assert.equal((await service.anonymous.post('/auth/login', { ...login, password: 'wrong horse' })).status, 401);
  const { data } = await service.anonymous.post('/auth/login', { ...login, password: PASSWORD });
  assert.equal((await service.anonymous.post('/auth/refresh', { refresh_token: data.refresh_token })).code, 200);
  await service.anonymous.post('/auth/refresh', { refresh_token: data.refresh_token });
  const top = await B.createDepartment({ deptName: name, leader: name, phone: name, email: 'marker-B@b.cn' });
  const below = await B.createDepartment({ deptName: name, parentId: top });
  const user = await B.createUser({
    userName: name,
    nickName: name,
    deptId: top,
    deptIds: [below],
    email: 'marker-B@b.cn',
  });
  const child = await service.createTenant({ tenantName: name, companyName: name, contactUserName: name }, B);
  const second = await service.createTenant({ tenantName: name }, B);
  const inChild = await B.createUser({ userName: name, tenantId: child.tenantId });
  const key = { headers: { 'idempotency-key': 'marker-B' } };
  const key2 = { headers: { 'idempotency-key': 'marker-B-2' } };
  const tag = { headers: { 'if-match': '"x"' } };
  const [loose, leaver] = [await B.createDepartment({ deptName: name }), await B.createUser({ userName: 'leaver' })];
  const member = await service.createMember(B, { userName: `${name}-2` });
  /** Lists sorted by every field, with the first page and a cursor, and every kind of search. */
  const lists = async () => {
    const responses = [];
    for (const sort of ['orderNum', '-deptName', 'createTime', '-updateTime']) {
      const first = await B.get(`${dept}/list?sort=${sort}&cursor=&pageSize=1&withPath=true`);
      responses.push(first, await B.get(`${dept}/list?sort=${sort}&cursor=${first.data.next}`));
    }
    for (const sort of ['userId', '-userName', 'nickName', '-createTime']) {
      const first = await B.get(`${people}/list?sort=${sort}&cursor=&pageSize=1`);
      responses.push(first, await B.get(`${people}/list?sort=${sort}&cursor=${first.data.next}`));
    }
    for (const query of ['deptName=marker', 'leader=marker', `underId=${top}`, `underId=${top}&deptName=marker`]) {
      responses.push(await B.get(`${dept}/list?${query}`), await B.get(`${dept}/list?${query}&cursor=`));
    }
    return responses;
  };
  /** Changes, history and reads with asOf. */
  const past = async () => {
    const { data: changes } = await B.get('/system/change-api?limit=2');
    const at = encodeURIComponent(changes.rows.at(-1).time);
    const now = new Date().toISOString();
    const paths = [
      `/system/change-api?after=${changes.next}`,
      '/system/change-api?below=true&limit=2',
      '/system/change-api?below=true',
      `/system/change-api?below=true&tenantId=${child.tenantId}`,
      '/system/change-api/list',
      `${dept}/list?tenantId=${child.tenantId}`,
      `${dept}/tree?tenantId=${child.tenantId}`,
      `/system/change-api/list?below=false&resource=department&resourceId=${top}&by=boss&from=2020-01-01&to=2999-01-01`,
      `${dept}/${top}/history`,
      `${dept}/diff?from=${now}`,
      `${dept}/0/children?asOf=${at}`,
      `${dept}/tree?asOf=${at}`,
      `${dept}/list?asOf=${at}`,
      `${dept}/${top}?asOf=${now}`,
      `${dept}/${top}/children?asOf=${now}`,
      `${dept}/tree?rootId=${top}&depth=2&asOf=${now}`,
      `${dept}/list?underId=${top}&deptName=marker&asOf=${now}`,
      `${people}/${user}?asOf=${now}`,
      `${tenant}/${child.id}?asOf=${now}`,
    ];
    const responses = [];
    for (const path of paths) responses.push(await B.get(path));
    return responses;
  };
  /** API keys: one is used and kept, one is deleted. */
  const keys = async () => {
    const path = '/system/key-api';
    const body = { keyName: name, permissions: ['dept:read', 'dept:write'] };
    const [kept, deleted] = [await B.post(path, body), await B.post(path, body, key2)];
    const { keyId } = kept.data;
    const client = new Client(service.base, kept.data.key);
    const responses = [
      await client.get(`${dept}/${top}`),
      await client.get(`${dept}/list`),
      await client.put(dept, { deptId: below, deptName: name }, key),
      await B.get(`${path}/list?keyName=marker&status=0`),
      await B.get(`${path}/list?cursor=`),
      await B.get(`${path}/${keyId}`),
      await B.put(path, { keyId, ...body }),
      await B.put(path, { keyId, ...body }, tag),
      await B.post(`${path}/${keyId}/rotate`),
      await B.delete(`${path}/${deleted.data.keyId}`),
    ];
    // The use is recorded in the background, which must not look like a change by another tenant.
    await waitFor('the use is recorded', async () => (await B.get(`${path}/${keyId}`)).data.lastUsedTime);
    return responses;
  };
  /** Counters, reservations, uses and sums of quotas, entitlements, the overview and the search. */
  const quotas = async () => {
    const path = '/system/quota-api';
    const put = await above.put(`${path}/calls?tenantId=${B.tenantId}`, { total: 100, period: 'day', pooled: true });
    const use = await B.post(`${path}/consume`, { quota: 'calls', subject: name });
    const [first, second] = [
      await B.post(`${path}/reserve`, { quota: 'calls', amount: 2, seconds: 600 }),
      await B.post(`${path}/reserve`, { quota: 'calls', seconds: 600 }),
    ];
    return [
      put,
      use,
      await B.post(`${path}/consume?tenantId=${child.tenantId}`, { quota: 'calls' }),
      await B.post(`${path}/consume`, { quota: 'calls' }, { headers: { 'idempotency-key': 'marker-B-3' } }),
      await B.post(`${path}/reservations/${first.data.reservationId}/confirm`, { amount: 1 }),
      await B.post(`${path}/reservations/${second.data.reservationId}/release`),
      await B.post(`${path}/uses/${use.data.useId}/refund`),
      await B.get(path),
      await B.get(`${path}/below`),
      await B.get(`${path}/uses?quota=calls`),
      ...(await Promise.all(
        ['user', 'key', 'subject', 'department', 'tenant'].map((by) => B.get(`${path}/usage?quota=calls&by=${by}`)),
      )),
      await B.get('/system/entitlement-api'),
      await B.get(`/system/entitlement-api?tenantId=${child.tenantId}`),
      await B.get('/system/overview-api'),
      await B.get('/system/search-api?q=marker'),
    ];
  };
  const webhooks = async () => {
    const path = '/system/webhook-api';
    const body = { name, url: 'http://127.0.0.1:9/', kinds: ['department.*'], below: true };
    const created = await B.post(path, body);
    const { id } = created.data;
    return [
      created,
      await B.post(path, { ...body, kinds: ['user.*'] }, { headers: { 'idempotency-key': 'marker-B-4' } }),
      await B.get(`${path}/list`),
      await B.get(`${path}/${id}`),
      await B.put(path, { id, ...body, status: '1' }),
      await B.get(`${path}/${id}/deliveries`),
      await B.post(`${path}/${id}/rotate-secret`),
      await B.delete(`${path}/${id}`),
    ];
  };
  /** Patches, restores and reverts, bulk creation, leaders and external ids. */
  const others = async () => {
    const external = { source: name, externalId: name };
    const led = await B.createDepartment({ deptName: name, leaderId: Number(user), ...external });
    const bulk = await B.post(`${people}/bulk`, {
      departments: [{ ref: name, deptName: name }],
      users: [{ ref: name, userName: `${name}-3`, password: PASSWORD, deptRef: name }],
    });
    const [id] = bulk.data.userIds;
    const last = async (query: string) =>
      (await B.get(`/system/change-api/list?below=false&${query}`)).data.rows[0].id as number;
    const patched = await B.patch(`${dept}/${led}`, { phone: name });
    const responses = [
      bulk,
      patched,
      await B.post(`/system/change-api/${await last(`resource=department&resourceId=${led}`)}/revert`),
      await B.get(`${dept}/external/${name}/${name}`),
      await B.delete(`${dept}/${led}`),
      await B.post(`${dept}/${led}/restore`),
      await B.patch(`${people}/${id}`, { position: name }),
      await B.get(`${people}/${id}/leaders`),
      await B.delete(`${people}/${id}`),
      await B.post(`${people}/${id}/restore`),
      await B.patch(`${tenant}/${child.id}`, { companyName: `${name}-2` }),
      await B.post(`/system/change-api/${await last(`resource=tenant&resourceId=${child.id}`)}/revert`),
    ];
    return responses;
  };
  const responses = [
    ...(await quotas()),
    ...(await webhooks()),
    ...(await others()),
    await B.get(`${dept}/${top}`),
    await B.get(`${dept}/${top}?includeDeleted=true`),
    await B.get(`${dept}/list`),
    await B.get(`${dept}/list?deptName=marker&status=0&parentId=${top}`),
    await B.get(`${dept}/list?parentId=0`),
    ...(await lists()),
    await B.post(`${dept}/batch-read`, { ids: [top, below] }),
    await B.get(`${dept}/${top}/users`),
    await B.get(`${dept}/${top}/users?below=true`),
    await B.get(`${dept}/${top}/users?cursor=`),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }),
    await B.put(dept, { deptId: below, deptName: name, parentId: 0 }),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }, key),
    await B.put(dept, { deptId: below, deptName: name, parentId: top }, key),
    await B.put(dept, { deptId: top, deptName: name }),
    await B.put(dept, { deptId: top }, tag),
    await B.delete(`${dept}/${top}`),
    await B.get(`${dept}/0/children?limit=1`).then(({ data }) => B.get(`${dept}/0/children?cursor=${data.next}`)),
    await B.get(`${dept}/${top}/children`),
    await B.get(`${dept}/tree`),
    await B.get(`${dept}/tree?rootId=${top}`),
    await B.get(`${dept}/tree?depth=1`),
    await B.put(`${dept}/order`, { parentId: 0, deptIds: [loose, top] }),
    await B.put(`${dept}/order`, { parentId: top, deptIds: [below] }),
    await B.post(`${dept}/bulk`, { departments: [{ ref: name, deptName: name }] }),
    await B.delete(`${dept}/${await B.createDepartment({ deptName: name })}?subtree=true`),
    await B.delete(`${dept}/${top}?subtree=true`),
    await B.delete(`${dept}/${loose}`),
    ...(await past()),
    await B.get(`${people}/${user}`),
    await B.get(`${people}/list?userName=marker&deptId=${top}&status=0`),
    await B.get(`${people}/list`),
    await B.get(`${people}/${inChild}?tenantId=${child.tenantId}`),
    await B.put(people, { userId: user, nickName: name, deptId: top, deptIds: [below], password: PASSWORD }),
    await B.put(people, { userId: user }, tag),
    await B.delete(`${people}/${leaver}`),
    await B.get(`${tenant}/${child.id}`),
    await B.get(`${tenant}/list`),
    await B.get(`${tenant}/tree`),
    await B.get(`${tenant}/list?keyword=marker&cursor=`),
    await B.get(`${tenant}/list?tenantName=marker&tenantId=${child.tenantId}&status=0&tenantParent=${B.tenantId}`),
    await B.put(tenant, { id: second.id, tenantName: name, tenantParent: child.tenantId }),
    await B.put(tenant, { id: second.id, tenantName: name, tenantParent: B.tenantId }),
    await B.delete(`${tenant}/${second.id}`),
    ...(await keys()),
    await member.get('/auth/me'),
    await member.put('/auth/password', { oldPassword: PASSWORD, newPassword: 'another horse' }),
    await member.post('/auth/logout'),
  ];
  const unexpected = responses.filter(({ status }) => ![200, 409, 412].includes(status));
  assert.deepEqual(unexpected, []);
}
