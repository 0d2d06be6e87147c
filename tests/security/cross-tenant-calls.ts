import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import { csv, importFile } from '../support/import.ts';
import { postForm } from '../support/oauth.ts';
import { type ApiResponse, type Client, PASSWORD } from '../support/service.ts';

/** A call of an operation on a tenant and the responses that other callers must get. */
export interface Row {
  operation: string;
  /** Distinguishes several calls of one operation. */
  variant?: string;
  call(client: Client, target: Target): Promise<ApiResponse>;
  /** The response to an administrator of a sibling or child tenant. */
  other: string;
  /** The response to a member of the same tenant; NOT_ALLOWED by default. */
  member?: string;
  /** The response to the administrator of the tenant, which proves that the call itself is valid. */
  admin?: string;
  /** Whether the response differs from that for an unknown id. The interface requires this for a tenantParent only. */
  revealsExistence?: boolean;
  /** The operation needs no token and ignores an invalid one. */
  isPublic?: boolean;
}

/** The ids that the calls use. */
export interface Target {
  parent: string;
  leaf: string;
  user: string;
  /** The external id of `leaf` and of `user`, of the source `hr`. */
  externalId: string;
  /** The code and id of the tenant, and those of the tenant below it. */
  code: string;
  id: string;
  belowCode: string;
  belowId: string;
  /** Another session of the administrator. */
  session: string;
  /** A disabled webhook and a delivery of it. */
  webhook: string;
  delivery: string;
  apiKey: string;
  /** An open reservation of the quota `calls`, and a use of it. */
  reservation: string;
  use: string;
  /** A deleted department, a deleted user, and the id of a deleted tenant below. */
  deletedDept: string;
  deletedUser: string;
  deletedId: string;
  /** The change that created `leaf`. */
  change: string;
}
/** Ids that do not exist. */
export const absent: Target = {
  parent: '777777771',
  leaf: '777777772',
  user: '777777773',
  externalId: '777777781',
  code: '777777777777777771',
  id: '7777777777777777771',
  belowCode: '777777777777777772',
  belowId: '7777777777777777772',
  session: '77777777-7777-4777-8777-777777777777',
  webhook: '777777774',
  delivery: '777777775',
  apiKey: '777777780',
  reservation: '777777782',
  use: '777777783',
  deletedDept: '777777778',
  deletedUser: '777777779',
  deletedId: '7777777777777777773',
  change: '0000000000777777776',
};

export const OK = '200';
export const dept = '/system/dept-api';
export const tenant = '/system/tenant-api';
export const people = '/system/user-api';
export const hook = '/system/webhook-api';
export const keys = '/system/key-api';
export const quotas = '/system/quota-api';
export const newKey = { keyName: 'key', permissions: ['dept:read'] };
/** A disabled webhook with a public address, which is never called. */
export const disabledWebhook = { url: 'https://93.184.216.34/', status: '1' };
const password = PASSWORD;

/** The current time, which is in the past for the database too because it runs on the same machine. */
const now = () => new Date().toISOString();

// Deletions come last, because the administrator of the tenant really performs each operation after the others tried.
export const table: Row[] = [
  {
    operation: `GET ${quotas}`,
    call: (client, { code }) => client.get(`${quotas}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${quotas}/below`,
    call: (client, { code }) => client.get(`${quotas}/below?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${quotas}/usage`,
    variant: 'by tenant',
    call: (client, { code }) => client.get(`${quotas}/usage?tenantId=${code}&by=tenant`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${quotas}/uses`,
    call: (client, { code }) => client.get(`${quotas}/uses?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${quotas}/usage`,
    call: (client, { code }) => client.get(`${quotas}/usage?tenantId=${code}&by=user`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${quotas}/consume`,
    call: (client, { code }) => client.post(`${quotas}/consume?tenantId=${code}`, { quota: 'calls' }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${quotas}/reserve`,
    call: (client, { code }) => client.post(`${quotas}/reserve?tenantId=${code}`, { quota: 'calls', seconds: 60 }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${quotas}/reservations/{id}/confirm`,
    call: (client, { reservation }) => client.post(`${quotas}/reservations/${reservation}/confirm`),
    other: '404 RESERVATION_NOT_FOUND',
  },
  {
    operation: `POST ${quotas}/reservations/{id}/release`,
    call: (client, { reservation }) => client.post(`${quotas}/reservations/${reservation}/release`),
    other: '404 RESERVATION_NOT_FOUND',
    admin: '409 RESERVATION_ENDED', // confirmed by the previous call
  },
  {
    operation: `POST ${quotas}/uses/{useId}/refund`,
    call: (client, { use }) => client.post(`${quotas}/uses/${use}/refund`),
    other: '404 USE_NOT_FOUND',
  },
  {
    operation: `PUT ${quotas}/{quota}`,
    call: (client, { code }) => client.put(`${quotas}/calls?tenantId=${code}`, { total: 1 }),
    other: '403 OTHER_TENANT',
    admin: '403 OWN_TENANT',
  },
  {
    operation: `POST ${dept}`,
    variant: 'below a department of the tenant',
    call: (client, { parent }) => client.post(dept, { parentId: parent }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}`,
    variant: 'in the tenant',
    call: (client, { code }) => client.post(dept, { tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${dept}/{id}`,
    call: (client, { leaf }) => client.get(`${dept}/${leaf}?includeDeleted=true`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/external/{source}/{externalId}`,
    call: (client, { externalId }) => client.get(`${dept}/external/hr/${externalId}`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/list`,
    variant: 'by an external id in the tenant',
    call: (client, { externalId }) => client.get(`${dept}/list?source=hr&externalId=${externalId}`),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${dept}/list`,
    variant: 'of a department of the tenant',
    call: (client, { parent }) => client.get(`${dept}/list?parentId=${parent}`),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${dept}/{id}/children`,
    call: (client, { parent }) => client.get(`${dept}/${parent}/children`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/tree`,
    variant: 'from a department of the tenant',
    call: (client, { parent }) => client.get(`${dept}/tree?rootId=${parent}`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `PUT ${dept}/order`,
    variant: 'of departments of the tenant',
    call: (client, { leaf }) => client.put(`${dept}/order`, { parentId: 0, deptIds: [leaf] }),
    other: '400 NOT_CHILDREN',
  },
  {
    operation: `PUT ${dept}/order`,
    variant: 'below a department of the tenant',
    call: (client, { parent, leaf }) => client.put(`${dept}/order`, { parentId: parent, deptIds: [leaf] }),
    other: '400 PARENT_NOT_FOUND',
    admin: '400 NOT_CHILDREN',
  },
  {
    operation: `POST ${dept}/bulk`,
    variant: 'below a department of the tenant',
    call: (client, { parent }) => client.post(`${dept}/bulk`, { parentId: parent, departments: [{ ref: 'a' }] }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}/bulk`,
    variant: 'in the tenant',
    call: (client, { code }) => client.post(`${dept}/bulk`, { departments: [{ ref: 'a', tenantId: code }] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${dept}/list`,
    variant: 'of a subtree of the tenant',
    call: (client, { parent }) => client.get(`${dept}/list?underId=${parent}&withPath=true&sort=-updateTime`),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${dept}/list`,
    variant: 'by a name in the tenant, with a cursor',
    call: (client) => client.get(`${dept}/list?deptName=leaf&cursor=`),
    other: OK,
    member: OK,
  },
  {
    operation: `POST ${dept}/batch-read`,
    call: (client, { parent, leaf }) => client.post(`${dept}/batch-read`, { ids: [leaf, parent] }),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${dept}/{id}/users`,
    call: (client, { parent }) => client.get(`${dept}/${parent}/users?below=true`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${dept}/{id}`,
    variant: 'with asOf',
    call: (client, { leaf }) => client.get(`${dept}/${leaf}?asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/{id}/children`,
    variant: 'with asOf',
    call: (client, { parent }) => client.get(`${dept}/${parent}/children?asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/tree`,
    variant: 'with asOf',
    call: (client, { parent }) => client.get(`${dept}/tree?rootId=${parent}&asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: OK,
  },
  {
    operation: `GET ${dept}/list`,
    variant: 'with asOf',
    call: (client, { parent }) => client.get(`${dept}/list?underId=${parent}&asOf=${now()}`),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${dept}/{id}/history`,
    call: (client, { leaf }) => client.get(`${dept}/${leaf}/history`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${dept}/diff`,
    call: (client) => client.get(`${dept}/diff?from=2020-01-01`),
    other: OK,
    member: OK,
  },
  {
    operation: `GET ${tenant}/{id}`,
    variant: 'with asOf',
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}?asOf=${now()}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    variant: 'with asOf',
    call: (client, { user }) => client.get(`${people}/${user}?asOf=${now()}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `PUT ${dept}`,
    call: (client, { leaf }) => client.put(dept, { deptId: leaf, deptName: 'new' }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `PUT ${dept}`,
    variant: 'in the tenant',
    call: (client, { leaf, code }) => client.put(dept, { deptId: leaf, tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `PUT ${dept}`,
    variant: 'to a department of the tenant',
    call: (client, { leaf, parent }) => client.put(dept, { deptId: leaf, parentId: parent }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `PATCH ${dept}/{id}`,
    call: (client, { leaf }) => client.patch(`${dept}/${leaf}`, { deptName: 'patched' }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `PATCH ${dept}/{id}`,
    variant: 'in the tenant',
    call: (client, { leaf, code }) => client.patch(`${dept}/${leaf}`, { tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `PATCH ${dept}/{id}`,
    variant: 'to a department of the tenant',
    call: (client, { leaf, parent }) => client.patch(`${dept}/${leaf}`, { parentId: parent }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `PATCH ${tenant}/{id}`,
    call: (client, { belowId }) => client.patch(`${tenant}/${belowId}`, { quotaBo: { zr: 7 } }),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `PATCH ${tenant}/{id}`,
    variant: 'of the tenant itself',
    call: (client, { id }) => client.patch(`${tenant}/${id}`, { accountCount: 9 }),
    other: '404 TENANT_NOT_FOUND',
    admin: '403 OWN_TENANT',
  },
  {
    operation: `PATCH ${people}/{id}`,
    call: (client, { user }) => client.patch(`${people}/${user}`, { password, roles: ['admin'] }),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `PATCH ${people}/{id}`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.patch(`${people}/${user}?tenantId=${code}`, { status: '1' }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${tenant}`,
    variant: 'below the tenant',
    call: (client, { code }) => client.post(tenant, { tenantParent: code, username: 'new', password }),
    other: '403 TENANT_PARENT_FORBIDDEN',
    revealsExistence: true,
  },
  {
    operation: `GET ${tenant}/{id}`,
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/{id}`,
    variant: 'of the tenant itself',
    call: (client, { id }) => client.get(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
  },
  ...[dept, people].flatMap((path): Row[] => [
    {
      operation: `GET ${path}/export`,
      variant: 'in the tenant',
      call: (client, { code }) => client.get(`${path}/export?format=csv&tenantId=${code}`),
      other: '403 OTHER_TENANT',
    },
    {
      operation: `GET ${path}/export`,
      variant: 'of a department of the tenant',
      call: (client, { parent }) =>
        client.get(`${path}/export?format=csv&${path === dept ? 'underId' : 'deptId'}=${parent}`),
      other: OK,
    },
    {
      operation: `POST ${path}/import`,
      call: (client: Client, { code }: Target) =>
        importFile(
          client,
          path === dept ? 'dept' : 'user',
          'apply',
          csv([[path === dept ? '部门路径' : '用户名'], ['imported-here']]),
          {
            query: `&tenantId=${code}`,
          },
        ),
      other: '403 OTHER_TENANT',
    },
    {
      operation: `GET ${path}/import/template`,
      call: (client) => client.get(`${path}/import/template?format=csv`),
      other: OK,
    },
  ]),
  ...(['code', 'belowCode'] as const).map(
    (code): Row => ({
      operation: `GET ${tenant}/export`,
      variant: code,
      call: (client, target) => client.get(`${tenant}/export?format=csv&tenantId=${target[code]}`),
      other: OK,
    }),
  ),
  {
    operation: `GET ${tenant}/list`,
    variant: 'of the tenant itself',
    call: (client, { code }) => client.get(`${tenant}/list?tenantId=${code}`),
    other: OK,
  },
  {
    operation: `GET ${tenant}/list`,
    variant: 'of the tenant below',
    call: (client, { belowCode }) => client.get(`${tenant}/list?tenantId=${belowCode}`),
    other: OK,
  },
  {
    operation: `GET ${tenant}/list`,
    variant: 'by a keyword, with a cursor',
    call: (client, { code }) => client.get(`${tenant}/list?keyword=${code}&cursor=`),
    other: OK,
  },
  {
    operation: `GET ${tenant}/tree`,
    variant: 'from the tenant itself',
    call: (client, { id }) => client.get(`${tenant}/tree?rootId=${id}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/tree`,
    variant: 'from the tenant below',
    call: (client, { belowId }) => client.get(`${tenant}/tree?rootId=${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `PUT ${tenant}`,
    call: (client, { belowId }) => client.put(tenant, { id: belowId, tenantName: 'new' }),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `PUT ${tenant}`,
    variant: 'of the tenant itself',
    call: (client, { id }) => client.put(tenant, { id, accountCount: 9 }),
    other: '404 TENANT_NOT_FOUND',
    admin: '403 OWN_TENANT',
  },
  {
    operation: `POST ${people}`,
    variant: 'in the tenant',
    call: (client, { code }) => client.post(people, { userName: 'one', password, tenantId: code, roles: ['admin'] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${people}`,
    variant: 'in a department of the tenant',
    call: (client, { parent }) => client.post(people, { userName: 'two', password, deptIds: [parent] }),
    other: '400 USER_DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${people}/bulk`,
    variant: 'in the tenant',
    call: (client, { code }) =>
      client.post(`${people}/bulk?tenantId=${code}`, { users: [{ ref: 'a', userName: 'three', password }] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${people}/bulk`,
    variant: 'with a row in the tenant',
    call: (client, { code }) =>
      client.post(`${people}/bulk`, { users: [{ ref: 'a', userName: 'four', password, tenantId: code }] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${people}/bulk`,
    variant: 'in a department of the tenant',
    call: (client, { parent }) =>
      client.post(`${people}/bulk`, { users: [{ ref: 'a', userName: 'five', password, deptIds: [parent] }] }),
    other: '400 USER_DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${people}/bulk`,
    variant: 'with departments below one of the tenant',
    call: (client, { parent }) =>
      client.post(`${people}/bulk`, {
        parentId: parent,
        departments: [{ ref: 'd' }],
        users: [{ ref: 'a', userName: 'six', password, deptRef: 'd' }],
      }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${people}/batch-read`,
    call: (client, { user }) => client.post(`${people}/batch-read`, { ids: [user] }),
    other: OK,
  },
  {
    operation: `POST ${people}/batch-read`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.post(`${people}/batch-read?tenantId=${code}`, { ids: [user] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/{id}/leaders`,
    call: (client, { user }) => client.get(`${people}/${user}/leaders`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}/leaders`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.get(`${people}/${user}/leaders?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${dept}`,
    variant: 'with a leader of the tenant',
    call: (client, { user }) => client.post(dept, { leaderId: user }),
    other: '400 LEADER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/external/{source}/{externalId}`,
    call: (client, { externalId }) => client.get(`${people}/external/hr/${externalId}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/external/{source}/{externalId}`,
    variant: 'in the tenant',
    call: (client, { externalId, code }) => client.get(`${people}/external/hr/${externalId}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    variant: 'by an external id in the tenant',
    call: (client, { externalId }) => client.get(`${people}/list?source=hr&externalId=${externalId}`),
    other: OK,
  },
  {
    operation: `GET ${people}/{id}`,
    call: (client, { user }) => client.get(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.get(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    variant: 'in the tenant',
    call: (client, { code }) => client.get(`${people}/list?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    variant: 'of a department of the tenant',
    call: (client, { parent }) => client.get(`${people}/list?deptId=${parent}`),
    other: OK,
  },
  {
    operation: `PUT ${people}`,
    call: (client, { user }) => client.put(people, { userId: user, password, roles: ['admin'] }),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `PUT ${people}`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.put(people, { userId: user, tenantId: code, status: '1' }),
    other: '403 OTHER_TENANT',
  },
  { operation: 'GET /auth/me', call: (client) => client.get('/auth/me'), other: OK, member: OK },
  {
    operation: 'GET /system/entitlement-api',
    call: (client) => client.get('/system/entitlement-api'),
    other: OK,
    member: OK,
  },
  {
    operation: 'GET /system/entitlement-api',
    variant: 'of the tenant',
    call: (client, { code }) => client.get(`/system/entitlement-api?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    // A member of that tenant reads their own.
    member: OK,
  },
  {
    operation: 'GET /system/entitlement-api',
    variant: 'of a user',
    call: (client, { user }) => client.get(`/system/entitlement-api?userId=${user}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: 'GET /system/overview-api',
    call: (client) => client.get('/system/overview-api'),
    other: OK,
    member: OK,
  },
  {
    operation: 'GET /system/change-api',
    variant: 'of the tenant',
    call: (client, { code }) => client.get(`/system/change-api?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: 'GET /system/change-api/stream',
    variant: 'of the tenant',
    call: (client, { code }) => openStream(client, `/system/change-api/stream?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: 'GET /system/change-api/list',
    variant: 'of the tenant',
    call: (client, { code }) => client.get(`/system/change-api/list?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  { operation: 'GET /auth/sessions', call: (client) => client.get('/auth/sessions'), other: OK, member: OK },
  {
    operation: 'PUT /auth/password',
    call: (client) => client.put('/auth/password', { oldPassword: 'not mine', newPassword: 'a new password' }),
    other: '400 WRONG_PASSWORD',
    member: '400 WRONG_PASSWORD',
    admin: '400 WRONG_PASSWORD',
  },
  ...publicOperation('POST /auth/login', '401 LOGIN_FAILED', (client, { code }) =>
    // Use a new name each time, because a few failures would lock it.
    client.post('/auth/login', { tenantId: code, username: randomUUID(), password }),
  ),
  ...publicOperation('POST /auth/refresh', '401 REFRESH_REFUSED', (client) =>
    client.post('/auth/refresh', { refresh_token: 'none' }),
  ),
  ...publicOperation('POST /auth/token', '400', ({ base }) =>
    postForm(base, '/auth/token', { grant_type: 'refresh_token', refresh_token: 'none' }),
  ),
  ...publicOperation('GET /.well-known/jwks.json', OK, (client) => client.get('/.well-known/jwks.json')),
  ...publicOperation('GET /.well-known/oauth-authorization-server', OK, (client) =>
    client.get('/.well-known/oauth-authorization-server'),
  ),
  ...publicOperation('GET /health/live', OK, (client) => client.get('/health/live')),
  ...publicOperation('GET /health/ready', OK, (client) => client.get('/health/ready')),
  ...publicOperation('GET /version', OK, (client) => client.get('/version')),
  { operation: `GET ${hook}/list`, call: (client) => client.get(`${hook}/list`), other: OK },
  {
    operation: `GET ${hook}/{id}`,
    call: (client, { webhook }) => client.get(`${hook}/${webhook}`),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `GET ${hook}/{id}/deliveries`,
    call: (client, { webhook }) => client.get(`${hook}/${webhook}/deliveries`),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `POST ${hook}/{id}/deliveries/{deliveryId}/resend`,
    call: (client, { webhook, delivery }) => client.post(`${hook}/${webhook}/deliveries/${delivery}/resend`),
    other: '404 WEBHOOK_NOT_FOUND',
    admin: '409 WEBHOOK_DISABLED',
  },
  {
    operation: `POST ${hook}/{id}/test`,
    call: (client, { webhook }) => client.post(`${hook}/${webhook}/test`),
    other: '404 WEBHOOK_NOT_FOUND',
    admin: '409 WEBHOOK_DISABLED',
  },
  {
    operation: `POST ${hook}/{id}/rotate-secret`,
    call: (client, { webhook }) => client.post(`${hook}/${webhook}/rotate-secret`),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `PUT ${hook}`,
    call: (client, { webhook }) => client.put(hook, { id: webhook, ...disabledWebhook }),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `DELETE ${hook}/{id}`,
    // An outdated If-Match prevents the deletion: its background cleanup would change the snapshots of later tests.
    call: (client, { webhook }) => client.delete(`${hook}/${webhook}`, { headers: { 'if-match': '"stale"' } }),
    other: '404 WEBHOOK_NOT_FOUND',
    admin: '412 CHANGED_MEANWHILE',
  },
  { operation: `GET ${keys}/list`, call: (client) => client.get(`${keys}/list`), other: OK },
  {
    operation: `GET ${keys}/{id}`,
    call: (client, { apiKey }) => client.get(`${keys}/${apiKey}`),
    other: '404 KEY_NOT_FOUND',
  },
  {
    operation: `PUT ${keys}`,
    call: (client, { apiKey }) => client.put(keys, { keyId: apiKey, ...newKey }),
    other: '404 KEY_NOT_FOUND',
  },
  {
    operation: `POST ${keys}/{id}/rotate`,
    call: (client, { apiKey }) => client.post(`${keys}/${apiKey}/rotate`),
    other: '404 KEY_NOT_FOUND',
  },
  {
    operation: `DELETE ${keys}/{id}`,
    call: (client, { apiKey }) => client.delete(`${keys}/${apiKey}`),
    other: '404 KEY_NOT_FOUND',
  },
  {
    operation: `POST ${dept}/{id}/restore`,
    call: (client, { deletedDept }) => client.post(`${dept}/${deletedDept}/restore`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}/{id}/restore`,
    variant: 'below a department of the tenant',
    call: (client, { deletedDept, leaf }) => client.post(`${dept}/${deletedDept}/restore`, { parentId: leaf }),
    other: '404 DEPT_NOT_FOUND',
    admin: '409 DEPT_NOT_DELETED',
  },
  {
    operation: `POST ${people}/{id}/restore`,
    call: (client, { deletedUser }) => client.post(`${people}/${deletedUser}/restore`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `POST ${people}/{id}/restore`,
    variant: 'in the tenant',
    call: (client, { deletedUser, code }) => client.post(`${people}/${deletedUser}/restore?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    admin: '409 USER_NOT_DELETED',
  },
  {
    operation: `POST ${tenant}/{id}/restore`,
    call: (client, { deletedId }) => client.post(`${tenant}/${deletedId}/restore`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: 'POST /system/change-api/{id}/revert',
    call: (client, { change }) => client.post(`/system/change-api/${change}/revert`),
    other: '404 CHANGE_NOT_FOUND',
    admin: '409 CHANGE_CONTRADICTED',
  },
  {
    operation: 'POST /system/change-api/{id}/revert',
    variant: 'in the tenant',
    call: (client, { change, code }) => client.post(`/system/change-api/${change}/revert?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    admin: '409 CHANGE_CONTRADICTED',
  },
  {
    operation: 'DELETE /auth/sessions/{id}',
    call: (client, { session }) => client.delete(`/auth/sessions/${session}`),
    other: '404 SESSION_NOT_FOUND',
    member: '404 SESSION_NOT_FOUND',
  },
  {
    operation: `DELETE ${dept}/{id}`,
    variant: 'with its subtree',
    call: (client, { parent }) => client.delete(`${dept}/${parent}?subtree=true`),
    other: '404 DEPT_NOT_FOUND',
    admin: '409 DEPT_HAS_USERS',
  },
  {
    operation: `DELETE ${dept}/{id}`,
    call: (client, { leaf }) => client.delete(`${dept}/${leaf}`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `DELETE ${people}/{id}`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.delete(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    admin: OK,
  },
  {
    operation: `DELETE ${people}/{id}`,
    call: (client, { user }) => client.delete(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
    admin: '404 USER_NOT_FOUND', // deleted by the previous call
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    variant: 'of the tenant itself',
    call: (client, { id }) => client.delete(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
    admin: '403 OWN_TENANT',
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    call: (client, { belowId }) => client.delete(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
];

/** Requests an event stream. An open stream does not end, so it is closed after its headers. */
export async function openStream({ base, token }: Client, path: string): Promise<ApiResponse> {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  // Not fetch: it keeps connections open, and the service would wait for them when it is closed.
  const request = http.get(base + path, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const isOpen = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  const text = isOpen ? '' : await textOf(response);
  request.destroy();
  const { code, msg, data } = isOpen ? { code: 200, msg: '', data: null } : JSON.parse(text);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as ApiResponse['headers'],
    text,
    code,
    msg,
    data,
  };
}

/** A public operation returns the same to every caller. */
function publicOperation(operation: string, response: string, call: Row['call']): Row[] {
  return [{ operation, call, other: response, member: response, admin: response, isPublic: true }];
}
