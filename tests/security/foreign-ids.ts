import { type Client, PASSWORD } from '../support/service.ts';

/** The calls that take an id: each operation with each parameter that takes one. */

export type Kind = 'dept' | 'user' | 'tenant' | 'code' | 'hook' | 'key' | 'use' | 'reservation';
export const dept = '/system/dept-api';
export const tenant = '/system/tenant-api';
export const people = '/system/user-api';
export const hook = '/system/webhook-api';
export const apiKeys = '/system/key-api';
export const quotas = '/system/quota-api';
export const newKey = { keyName: 'key', permissions: ['dept:read'] };
/** A disabled webhook with a public address, which is never called. */
export const disabledWebhook = { url: 'https://93.184.216.34/', status: '1' };

export interface Context {
  /** The records of the caller. */
  own: Record<Kind, { live: string }>;
  mine: Client;
}

export interface Call {
  /** `GET /path`, then the parameter that takes the id. */
  what: string;
  kind: Kind;
  call(
    id: string,
    context: Context,
  ): { method: string; path: string; body?: unknown; headers?: Record<string, string> };
  /** The status for an unknown id; 404 by default. */
  expected?: number;
  /** The interface requires 403 for an existing record of another tenant. */
  revealsExistence?: boolean;
  /** The status for a deleted record of the caller, where it differs from an unknown id. */
  ownDeleted?: number;
  /** The status for an existing record of the caller; 200 by default. */
  ownLive?: number;
}

const tag = { 'If-Match': '"some tag"' };
let keys = 0;
let names = 0;
const key = () => ({ 'Idempotency-Key': `key ${++keys}` });
const userName = () => `new${String(++names).padStart(6, '0')}`;
const password = PASSWORD;

const get = (path: string) => ({ method: 'GET', path });
const remove = (path: string, headers = {}) => ({ method: 'DELETE', path, headers });
const post = (path: string, body: object, headers = {}) => ({ method: 'POST', path, body, headers });
const put = (path: string, body: object, headers = {}) => ({ method: 'PUT', path, body, headers });
const patch = (path: string, body: object, headers = {}) => ({ method: 'PATCH', path, body, headers });

const now = () => new Date().toISOString();

const departmentCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${dept}/{id}`, call: (id) => get(`${dept}/${id}`) },
  {
    what: `GET ${dept}/{id} with includeDeleted`,
    call: (id) => get(`${dept}/${id}?includeDeleted=true`),
    ownDeleted: 200,
  },
  { what: `GET ${dept}/external/{source}/{externalId}`, call: (id) => get(`${dept}/external/hr/${id}`) },
  { what: `GET ${dept}/list parentId`, call: (id) => get(`${dept}/list?parentId=${id}`), expected: 200 },
  { what: `GET ${dept}/list underId`, call: (id) => get(`${dept}/list?underId=${id}`), expected: 200 },
  { what: `GET ${dept}/list underId, cursor`, call: (id) => get(`${dept}/list?underId=${id}&cursor=`), expected: 200 },
  { what: `POST ${dept}/batch-read ids`, call: (id) => post(`${dept}/batch-read`, { ids: [id] }), expected: 200 },
  {
    what: `POST ${dept}/batch-read ids, with other ids`,
    call: (id, { own }) => post(`${dept}/batch-read`, { ids: [own.dept.live, Number(id), id] }),
    expected: 200,
  },
  { what: `GET ${dept}/{id}/users`, call: (id) => get(`${dept}/${id}/users`) },
  { what: `GET ${dept}/{id}/users below`, call: (id) => get(`${dept}/${id}/users?below=true&countOnly=true`) },
  { what: `GET ${dept}/{id}/users cursor`, call: (id) => get(`${dept}/${id}/users?cursor=`) },
  { what: `GET ${people}/list deptId`, call: (id) => get(`${people}/list?deptId=${id}`), expected: 200 },
  {
    what: `GET ${people}/list deptId, cursor`,
    call: (id) => get(`${people}/list?deptId=${id}&below=true&sort=-nickName&cursor=`),
    expected: 200,
  },
  { what: `GET ${people}/export deptId`, call: (id) => get(`${people}/export?format=csv&deptId=${id}`), expected: 200 },
  { what: `GET ${dept}/export underId`, call: (id) => get(`${dept}/export?format=csv&underId=${id}`), expected: 200 },
  { what: `GET ${dept}/export parentId`, call: (id) => get(`${dept}/export?format=csv&parentId=${id}`), expected: 200 },
  { what: `POST ${dept} parentId`, call: (id) => post(dept, { parentId: id }), expected: 400 },
  {
    what: `POST ${dept} parentId, with an Idempotency-Key`,
    call: (id) => post(dept, { parentId: id }, key()),
    expected: 400,
  },
  { what: `PUT ${dept} deptId`, call: (id) => put(dept, { deptId: id, deptName: 'changed' }) },
  { what: `PUT ${dept} deptId, with an Idempotency-Key`, call: (id) => put(dept, { deptId: id }, key()) },
  { what: `PUT ${dept} deptId, with If-Match`, call: (id) => put(dept, { deptId: id }, tag), ownLive: 412 },
  { what: `PUT ${dept} deptId, to the top level`, call: (id) => put(dept, { deptId: id, parentId: 0 }) },
  { what: `PATCH ${dept}/{id}`, call: (id) => patch(`${dept}/${id}`, { deptName: 'changed' }) },
  { what: `PATCH ${dept}/{id} with If-Match`, call: (id) => patch(`${dept}/${id}`, {}, tag), ownLive: 412 },
  {
    what: `PATCH ${dept}/{id} parentId`,
    call: (id, { own }) => patch(`${dept}/${own.dept.live}`, { parentId: id }),
    expected: 400,
    ownLive: 409, // below itself
  },
  {
    what: `PUT ${dept} parentId`,
    call: (id, { own }) => put(dept, { deptId: own.dept.live, parentId: id }),
    expected: 400,
    ownLive: 409, // below itself
  },
  {
    what: `POST ${people} deptId`,
    call: (id) => post(people, { userName: userName(), password, deptId: id }),
    expected: 400,
  },
  {
    what: `POST ${people} deptIds`,
    call: (id, { own }) => post(people, { userName: userName(), password, deptIds: [own.dept.live, id] }),
    expected: 400,
  },
  {
    what: `PATCH ${people}/{id} deptId`,
    call: (id, { own }) => patch(`${people}/${own.user.live}`, { deptId: id }),
    expected: 400,
  },
  {
    what: `POST ${people}/bulk deptId`,
    call: (id) => post(`${people}/bulk`, { users: [{ ref: 'a', userName: userName(), password, deptId: id }] }),
    expected: 400,
  },
  {
    what: `POST ${people}/bulk parentId`,
    call: (id) =>
      post(`${people}/bulk`, {
        parentId: id,
        departments: [{ ref: 'd' }],
        users: [{ ref: 'a', userName: userName(), password }],
      }),
    expected: 400,
  },
  {
    what: `PUT ${people} deptId`,
    call: (id, { own }) => put(people, { userId: own.user.live, deptId: id }),
    expected: 400,
  },
  {
    what: `PUT ${people} deptIds`,
    call: (id, { own }) => put(people, { userId: own.user.live, deptIds: [id] }),
    expected: 400,
  },
  { what: `GET ${dept}/{id}/children`, call: (id) => get(`${dept}/${id}/children`) },
  { what: `GET ${dept}/{id}/children with asOf`, call: (id) => get(`${dept}/${id}/children?asOf=${now()}`) },
  { what: `GET ${dept}/{id}/history`, call: (id) => get(`${dept}/${id}/history`), ownDeleted: 200 },
  { what: `GET ${dept}/{id} with asOf`, call: (id) => get(`${dept}/${id}?asOf=${now()}`) },
  { what: `GET ${dept}/tree rootId, with asOf`, call: (id) => get(`${dept}/tree?rootId=${id}&asOf=${now()}`) },
  { what: `GET ${dept}/tree rootId`, call: (id) => get(`${dept}/tree?rootId=${id}`) },
  { what: `GET ${dept}/tree rootId, with depth`, call: (id) => get(`${dept}/tree?rootId=${id}&depth=1`) },
  {
    what: `PUT ${dept}/order deptIds`,
    call: (id) => put(`${dept}/order`, { parentId: 0, deptIds: [id] }),
    expected: 400,
  },
  {
    what: `PUT ${dept}/order parentId`,
    call: (id, { own }) => put(`${dept}/order`, { parentId: id, deptIds: [own.dept.live] }),
    expected: 400,
    ownLive: 400, // not its own child
  },
  {
    what: `POST ${dept}/bulk parentId`,
    call: (id) => post(`${dept}/bulk`, { parentId: id, departments: [{ ref: 'a' }] }),
    expected: 400,
  },
  { what: `DELETE ${dept}/{id} with its subtree`, call: (id) => remove(`${dept}/${id}?subtree=true`) },
  {
    what: `DELETE ${dept}/{id} with its subtree and If-Match`,
    call: (id) => remove(`${dept}/${id}?subtree=true`, tag),
    ownLive: 412,
  },
  { what: `DELETE ${dept}/{id}`, call: (id) => remove(`${dept}/${id}`) },
  { what: `DELETE ${dept}/{id} with If-Match`, call: (id) => remove(`${dept}/${id}`, tag), ownLive: 412 },
  // The other department has a user, so the batch is also rejected for an id of the caller, with another reason.
  {
    what: `DELETE ${dept}/{id} with other ids`,
    call: (id, { own }) => remove(`${dept}/${own.dept.live},${id}`),
    ownLive: 409,
  },
];

const userCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${people}/{id}`, call: (id) => get(`${people}/${id}`) },
  {
    what: `GET ${people}/{id} in a child tenant`,
    call: inChildTenant((id, code) => get(`${people}/${id}${code}`)),
    ownLive: 404,
  },
  { what: `GET ${people}/external/{source}/{externalId}`, call: (id) => get(`${people}/external/hr/${id}`) },
  { what: `GET ${people}/{id}/sessions`, call: (id) => get(`${people}/${id}/sessions`) },
  { what: `DELETE ${people}/{id}/sessions`, call: (id) => remove(`${people}/${id}/sessions`) },
  { what: `GET ${people}/{id}/leaders`, call: (id) => get(`${people}/${id}/leaders`) },
  { what: `POST ${dept} leaderId`, call: (id) => post(dept, { leaderId: id }), expected: 400 },
  {
    what: `PUT ${dept} leaderId`,
    call: (id, { own }) => put(dept, { deptId: own.dept.live, leaderId: id }),
    expected: 400,
  },
  {
    what: `PATCH ${dept}/{id} leaderId`,
    call: (id, { own }) => patch(`${dept}/${own.dept.live}`, { leaderId: id }),
    expected: 400,
  },
  {
    what: `POST ${dept}/bulk leaderId`,
    call: (id) => post(`${dept}/bulk`, { departments: [{ ref: 'a', leaderId: id }] }),
    expected: 400,
  },
  { what: `POST ${people}/batch-read ids`, call: (id) => post(`${people}/batch-read`, { ids: [id] }), expected: 200 },
  { what: `PATCH ${people}/{id}`, call: (id) => patch(`${people}/${id}`, { nickName: 'changed' }) },
  { what: `PATCH ${people}/{id} with If-Match`, call: (id) => patch(`${people}/${id}`, {}, tag), ownLive: 412 },
  { what: `PUT ${people} userId`, call: (id) => put(people, { userId: id, nickName: 'changed' }) },
  { what: `PUT ${people} userId, with a password`, call: (id) => put(people, { userId: id, password }) },
  { what: `PUT ${people} userId, with If-Match`, call: (id) => put(people, { userId: id }, tag), ownLive: 412 },
  { what: `PUT ${people} userId, with an Idempotency-Key`, call: (id) => put(people, { userId: id, password }, key()) },
  { what: `DELETE ${people}/{id}`, call: (id) => remove(`${people}/${id}`) },
  { what: `DELETE ${people}/{id} with If-Match`, call: (id) => remove(`${people}/${id}`, tag), ownLive: 412 },
  {
    what: `DELETE ${people}/{id} in a child tenant`,
    call: inChildTenant((id, code) => remove(`${people}/${id}${code}`)),
    ownLive: 404,
  },
];

function inChildTenant(call: (id: string, query: string) => ReturnType<Call['call']>): Call['call'] {
  return (id, { own }) => call(id, `?tenantId=${own.code.live}`);
}

const tenantCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${tenant}/{id}`, call: (id) => get(`${tenant}/${id}`) },
  { what: `GET ${tenant}/tree rootId`, call: (id) => get(`${tenant}/tree?rootId=${id}`) },
  { what: `PATCH ${tenant}/{id}`, call: (id) => patch(`${tenant}/${id}`, { tenantName: 'changed' }) },
  { what: `PATCH ${tenant}/{id} with If-Match`, call: (id) => patch(`${tenant}/${id}`, {}, tag), ownLive: 412 },
  { what: `PUT ${tenant} id`, call: (id) => put(tenant, { id, tenantName: 'changed' }) },
  { what: `PUT ${tenant} id, with If-Match`, call: (id) => put(tenant, { id }, tag), ownLive: 412 },
  { what: `PUT ${tenant} id, with an Idempotency-Key`, call: (id) => put(tenant, { id }, key()) },
  {
    what: `PUT ${tenant} id, to below the tenant of the caller`,
    call: (id, { mine }) => put(tenant, { id, tenantParent: mine.tenantId }),
  },
  { what: `DELETE ${tenant}/{id}`, call: (id) => remove(`${tenant}/${id}`) },
  { what: `DELETE ${tenant}/{id} with If-Match`, call: (id) => remove(`${tenant}/${id}`, tag), ownLive: 412 },
];

const codeCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${tenant}/list tenantId`, call: (id) => get(`${tenant}/list?tenantId=${id}`), expected: 200 },
  {
    what: `GET ${tenant}/export tenantId`,
    call: (id) => get(`${tenant}/export?format=csv&tenantId=${id}`),
    expected: 200,
  },
  {
    what: `GET ${tenant}/export tenantParent`,
    call: (id) => get(`${tenant}/export?format=csv&tenantParent=${id}`),
    expected: 200,
  },
  { what: `GET ${tenant}/list keyword`, call: (id) => get(`${tenant}/list?keyword=${id}`), expected: 200 },
  { what: `GET ${tenant}/list tenantParent`, call: (id) => get(`${tenant}/list?tenantParent=${id}`), expected: 200 },
  {
    what: `POST ${tenant} tenantParent`,
    call: (id) => post(tenant, { tenantParent: id }),
    expected: 400,
    revealsExistence: true,
  },
  {
    what: `PUT ${tenant} tenantParent`,
    call: (id, { own }) => put(tenant, { id: own.tenant.live, tenantParent: id }),
    expected: 400,
    revealsExistence: true,
    ownLive: 409, // below itself
  },
  { what: `POST ${dept} tenantId`, call: (id) => post(dept, { tenantId: id }), expected: 403, ownLive: 403 },
  {
    what: `POST ${dept}/bulk tenantId`,
    call: (id) => post(`${dept}/bulk`, { departments: [{ ref: 'a', tenantId: id }] }),
    expected: 403,
    ownLive: 403,
  },
  {
    what: `PUT ${dept} tenantId`,
    call: (id, { own }) => put(dept, { deptId: own.dept.live, tenantId: id }),
    expected: 403,
    ownLive: 403, // a child tenant is named in the query; the body can only repeat that tenant
  },
  {
    what: `GET ${people}/export tenantId`,
    call: (id) => get(`${people}/export?format=csv&tenantId=${id}`),
    expected: 403,
  },
  { what: `GET ${dept}/export tenantId`, call: (id) => get(`${dept}/export?format=csv&tenantId=${id}`), expected: 403 },
  { what: `GET ${people}/list tenantId`, call: (id) => get(`${people}/list?tenantId=${id}`), expected: 403 },
  {
    what: `GET ${people}/{id} tenantId`,
    call: (id, { own }) => get(`${people}/${own.user.live}?tenantId=${id}`),
    expected: 403,
    ownLive: 404,
  },
  {
    what: `POST ${people} tenantId`,
    call: (id) => post(people, { userName: userName(), password, tenantId: id }),
    expected: 403,
  },
  {
    what: `POST ${people} tenantId in the query`,
    call: (id) => post(`${people}?tenantId=${id}`, { userName: userName(), password }),
    expected: 403,
  },
  {
    what: `PUT ${people} tenantId`,
    call: (id, { own }) => put(people, { userId: own.user.live, tenantId: id }),
    expected: 403,
    ownLive: 404,
  },
  {
    what: `PUT ${people} tenantId in the query`,
    call: (id, { own }) => put(`${people}?tenantId=${id}`, { userId: own.user.live }),
    expected: 403,
    ownLive: 404,
  },
  {
    what: `DELETE ${people}/{id} tenantId`,
    call: (id, { own }) => remove(`${people}/${own.user.live}?tenantId=${id}`),
    expected: 403,
    ownLive: 404,
  },
];

const webhookCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${hook}/{id}`, call: (id) => get(`${hook}/${id}`) },
  { what: `GET ${hook}/{id}/deliveries`, call: (id) => get(`${hook}/${id}/deliveries`) },
  { what: `PUT ${hook} id`, call: (id) => put(hook, { id, ...disabledWebhook }) },
  { what: `PUT ${hook} id, If-Match`, call: (id) => put(hook, { id, ...disabledWebhook }, tag), ownLive: 412 },
  { what: `POST ${hook}/{id}/test`, call: (id) => post(`${hook}/${id}/test`, {}), ownLive: 409 },
  { what: `POST ${hook}/{id}/rotate-secret`, call: (id) => post(`${hook}/${id}/rotate-secret`, {}, key()) },
  {
    what: `POST ${hook}/{id}/deliveries/{deliveryId}/resend`,
    call: (id) => post(`${hook}/${id}/deliveries/7/resend`, {}),
    ownLive: 404,
  },
  { what: `DELETE ${hook}/{id}`, call: (id) => remove(`${hook}/${id}`) },
  { what: `DELETE ${hook}/{id} If-Match`, call: (id) => remove(`${hook}/${id}`, tag), ownLive: 412 },
];

const keyCalls: Omit<Call, 'kind'>[] = [
  { what: `GET ${apiKeys}/{id}`, call: (id) => get(`${apiKeys}/${id}`) },
  { what: `PUT ${apiKeys} keyId`, call: (id) => put(apiKeys, { keyId: id, ...newKey }) },
  { what: `PUT ${apiKeys} keyId, If-Match`, call: (id) => put(apiKeys, { keyId: id, ...newKey }, tag), ownLive: 412 },
  { what: `POST ${apiKeys}/{id}/rotate`, call: (id) => post(`${apiKeys}/${id}/rotate`, {}, key()) },
  { what: `DELETE ${apiKeys}/{id}`, call: (id) => remove(`${apiKeys}/${id}`) },
  { what: `DELETE ${apiKeys}/{id} If-Match`, call: (id) => remove(`${apiKeys}/${id}`, tag), ownLive: 412 },
];

const restore = (path: string): Omit<Call, 'kind'>[] => [
  {
    what: `POST ${path}/{id}/restore`,
    call: (id) => post(`${path}/${id}/restore`, {}),
    ownDeleted: 200,
    ownLive: 409,
  },
];

const withKind = (kind: Kind, list: Omit<Call, 'kind'>[]): Call[] => list.map((call) => ({ ...call, kind }));
export const calls: Call[] = [
  ...withKind('dept', departmentCalls),
  ...withKind('user', userCalls),
  ...withKind('tenant', tenantCalls),
  ...withKind('code', codeCalls),
  ...withKind('hook', webhookCalls),
  ...withKind('key', keyCalls),
  ...withKind('use', [
    {
      what: `POST ${quotas}/uses/{useId}/refund`,
      call: (id) => post(`${quotas}/uses/${id}/refund`, {}),
      ownDeleted: 409,
    },
  ]),
  ...withKind(
    'reservation',
    ['confirm', 'release'].map((end) => ({
      what: `POST ${quotas}/reservations/{id}/${end}`,
      call: (id: string) => post(`${quotas}/reservations/${id}/${end}`, {}),
      ownDeleted: 409,
    })),
  ),
  {
    what: `POST ${people}/{id}/restore tenantId`,
    kind: 'code',
    call: (id, { own }) => post(`${people}/${own.user.live}/restore?tenantId=${id}`, {}),
    expected: 403,
    ownLive: 404,
  },
  // Restores come last, because the deleted records exist afterwards.
  ...withKind('dept', restore(dept)),
  ...withKind('user', restore(people)),
  ...withKind('tenant', restore(tenant)),
];
