import { randomUUID } from 'node:crypto';
import { type Answer, type Client, PASSWORD } from '../support/service.ts';

/** A call of an operation upon a tenant, and what those get whose business it isn't. */
export interface Row {
  operation: string;
  /** Which call of it, where there are several. */
  as?: string;
  call(client: Client, named: Named): Promise<Answer>;
  /** What an administrator of another tenant gets, beside it or below it. */
  other: string;
  /** What a member of the same tenant gets; mostly that it is not for him. */
  member?: string;
  /** What the rightful administrator gets, so that we know the call to be a good one. */
  boss?: string;
  /** Others can tell the tenant's from an absent one: the law says so of a new tenant's parent alone. */
  told?: boolean;
  /** Needs no token, so a bad one is not looked at. */
  open?: boolean;
}

/** What the calls name. */
export interface Named {
  parent: string;
  leaf: string;
  user: string;
  /** The tenant's own code and id, and those of the tenant below it. */
  code: string;
  id: string;
  belowCode: string;
  belowId: string;
  /** Another session of its administrator. */
  session: string;
  /** A webhook, disabled so that it rests, and a delivery of it. */
  webhook: string;
  delivery: string;
  /** Deleted: a department, a user, and the id of a tenant below. */
  goneDept: string;
  goneUser: string;
  goneId: string;
  /** The change that made `leaf`. */
  change: string;
}
/** The same, of which there is none. */
export const absent: Named = {
  parent: '777777771',
  leaf: '777777772',
  user: '777777773',
  code: '777777777777777771',
  id: '7777777777777777771',
  belowCode: '777777777777777772',
  belowId: '7777777777777777772',
  session: '77777777-7777-4777-8777-777777777777',
  webhook: '777777774',
  delivery: '777777775',
  goneDept: '777777778',
  goneUser: '777777779',
  goneId: '7777777777777777773',
  change: '0000000000777777776',
};

export const FINE = '200';
export const dept = '/system/dept-api';
export const tenant = '/system/tenant-api';
export const people = '/system/user-api';
const hook = '/system/webhook-api';
// An address outside, which nobody calls: the webhook is disabled.
const url = 'https://93.184.216.34/';
const password = PASSWORD;

/** A moment that is over for the database too, which runs on the same machine. */
const now = () => new Date().toISOString();

// Deletions come last: the rightful administrator calls each operation after the strangers have.
export const table: Row[] = [
  {
    operation: `POST ${dept}`,
    as: 'below their department',
    call: (client, { parent }) => client.post(dept, { parentId: parent }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}`,
    as: 'in their tenant',
    call: (client, { code }) => client.post(dept, { tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${dept}/{id}`,
    call: (client, { leaf }) => client.get(`${dept}/${leaf}?includeDeleted=true`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/list`,
    as: 'of their department',
    call: (client, { parent }) => client.get(`${dept}/list?parentId=${parent}`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `GET ${dept}/{id}/children`,
    call: (client, { parent }) => client.get(`${dept}/${parent}/children`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/tree`,
    as: 'from their department',
    call: (client, { parent }) => client.get(`${dept}/tree?rootId=${parent}`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `PUT ${dept}/order`,
    as: 'of their departments',
    call: (client, { leaf }) => client.put(`${dept}/order`, { parentId: 0, deptIds: [leaf] }),
    other: '400 NOT_CHILDREN',
  },
  {
    operation: `PUT ${dept}/order`,
    as: 'below their department',
    call: (client, { parent, leaf }) => client.put(`${dept}/order`, { parentId: parent, deptIds: [leaf] }),
    other: '400 PARENT_NOT_FOUND',
    boss: '400 NOT_CHILDREN',
  },
  {
    operation: `POST ${dept}/bulk`,
    as: 'below their department',
    call: (client, { parent }) => client.post(`${dept}/bulk`, { parentId: parent, departments: [{ ref: 'a' }] }),
    other: '400 PARENT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}/bulk`,
    as: 'in their tenant',
    call: (client, { code }) => client.post(`${dept}/bulk`, { departments: [{ ref: 'a', tenantId: code }] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${dept}/list`,
    as: 'of their branch',
    call: (client, { parent }) => client.get(`${dept}/list?underId=${parent}&withPath=true&sort=-updateTime`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `GET ${dept}/list`,
    as: 'by a name of theirs, with a cursor',
    call: (client) => client.get(`${dept}/list?deptName=leaf&cursor=`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `POST ${dept}/batch-read`,
    call: (client, { parent, leaf }) => client.post(`${dept}/batch-read`, { ids: [leaf, parent] }),
    other: FINE,
    member: FINE,
  },
  {
    operation: `GET ${dept}/{id}/users`,
    call: (client, { parent }) => client.get(`${dept}/${parent}/users?below=true`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${dept}/{id}`,
    as: 'as it was',
    call: (client, { leaf }) => client.get(`${dept}/${leaf}?asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/{id}/children`,
    as: 'as they were',
    call: (client, { parent }) => client.get(`${dept}/${parent}/children?asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/tree`,
    as: 'as it was',
    call: (client, { parent }) => client.get(`${dept}/tree?rootId=${parent}&asOf=${now()}`),
    other: '404 DEPT_NOT_FOUND',
    member: FINE,
  },
  {
    operation: `GET ${dept}/list`,
    as: 'as it was',
    call: (client, { parent }) => client.get(`${dept}/list?underId=${parent}&asOf=${now()}`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `GET ${dept}/{id}/history`,
    call: (client, { leaf }) => client.get(`${dept}/${leaf}/history`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${dept}/diff`,
    call: (client) => client.get(`${dept}/diff?from=2020-01-01`),
    other: FINE,
    member: FINE,
  },
  {
    operation: `GET ${tenant}/{id}`,
    as: 'as it was',
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}?asOf=${now()}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    as: 'as he was',
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
    as: 'in their tenant',
    call: (client, { leaf, code }) => client.put(dept, { deptId: leaf, tenantId: code }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `PUT ${dept}`,
    as: 'to their department',
    call: (client, { leaf, parent }) => client.put(dept, { deptId: leaf, parentId: parent }),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${tenant}`,
    as: 'below their tenant',
    call: (client, { code }) => client.post(tenant, { tenantParent: code, username: 'new', password }),
    other: '403 TENANT_PARENT_FORBIDDEN',
    told: true,
  },
  {
    operation: `GET ${tenant}/{id}`,
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/{id}`,
    as: 'their own',
    call: (client, { id }) => client.get(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/list`,
    as: 'their own',
    call: (client, { code }) => client.get(`${tenant}/list?tenantId=${code}`),
    other: FINE,
  },
  {
    operation: `GET ${tenant}/list`,
    as: 'the one below them',
    call: (client, { belowCode }) => client.get(`${tenant}/list?tenantId=${belowCode}`),
    other: FINE,
  },
  {
    operation: `GET ${tenant}/list`,
    as: 'by a keyword, with a cursor',
    call: (client, { code }) => client.get(`${tenant}/list?keyword=${code}&cursor=`),
    other: FINE,
  },
  {
    operation: `GET ${tenant}/tree`,
    as: 'of their own',
    call: (client, { id }) => client.get(`${tenant}/tree?rootId=${id}`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: `GET ${tenant}/tree`,
    as: 'of the one below them',
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
    as: 'their own',
    call: (client, { id }) => client.put(tenant, { id, accountCount: 9 }),
    other: '404 TENANT_NOT_FOUND',
    boss: '403 OWN_TENANT',
  },
  {
    operation: `POST ${people}`,
    as: 'in their tenant',
    call: (client, { code }) => client.post(people, { userName: 'one', password, tenantId: code, roles: ['admin'] }),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `POST ${people}`,
    as: 'in their department',
    call: (client, { parent }) => client.post(people, { userName: 'two', password, deptIds: [parent] }),
    other: '400 USER_DEPT_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    call: (client, { user }) => client.get(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.get(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    as: 'in their tenant',
    call: (client, { code }) => client.get(`${people}/list?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `GET ${people}/list`,
    as: 'of their department',
    call: (client, { parent }) => client.get(`${people}/list?deptId=${parent}`),
    other: FINE,
  },
  {
    operation: `PUT ${people}`,
    call: (client, { user }) => client.put(people, { userId: user, password, roles: ['admin'] }),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `PUT ${people}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.put(people, { userId: user, tenantId: code, status: '1' }),
    other: '403 OTHER_TENANT',
  },
  { operation: 'GET /auth/me', call: (client) => client.get('/auth/me'), other: FINE, member: FINE },
  {
    operation: 'GET /system/overview-api',
    call: (client) => client.get('/system/overview-api'),
    other: FINE,
    member: FINE,
  },
  {
    operation: 'GET /system/change-api',
    as: 'of their tenant',
    call: (client, { code }) => client.get(`/system/change-api?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: 'GET /system/change-api/stream',
    as: 'of their tenant',
    call: (client, { code }) => client.get(`/system/change-api/stream?tenantId=${code}&after=x`),
    other: '400 INVALID_FIELD',
    member: '400 INVALID_FIELD',
    boss: '400 INVALID_FIELD',
  },
  {
    operation: 'GET /system/change-api/list',
    as: 'of their tenant',
    call: (client, { code }) => client.get(`/system/change-api/list?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  { operation: 'GET /auth/sessions', call: (client) => client.get('/auth/sessions'), other: FINE, member: FINE },
  {
    operation: 'PUT /auth/password',
    call: (client) => client.put('/auth/password', { oldPassword: 'not mine', newPassword: 'a new password' }),
    other: '400 WRONG_PASSWORD',
    member: '400 WRONG_PASSWORD',
    boss: '400 WRONG_PASSWORD',
  },
  ...open('POST /auth/login', '401 LOGIN_FAILED', (client, { code }) =>
    // Never the same name twice: a few failures would lock it.
    client.post('/auth/login', { tenantId: code, username: randomUUID(), password }),
  ),
  ...open('POST /auth/refresh', '401 REFRESH_REFUSED', (client) =>
    client.post('/auth/refresh', { refresh_token: 'none' }),
  ),
  ...open('GET /health/live', FINE, (client) => client.get('/health/live')),
  ...open('GET /health/ready', FINE, (client) => client.get('/health/ready')),
  ...open('GET /version', FINE, (client) => client.get('/version')),
  {
    operation: `POST ${hook}`,
    call: (client) => client.post(hook, { url: 'https://10.0.0.1/' }),
    other: '400 WEBHOOK_ADDRESS_REFUSED',
    boss: '400 WEBHOOK_ADDRESS_REFUSED',
  },
  { operation: `GET ${hook}/list`, call: (client) => client.get(`${hook}/list`), other: FINE },
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
    boss: '409 WEBHOOK_DISABLED',
  },
  {
    operation: `POST ${hook}/{id}/test`,
    call: (client, { webhook }) => client.post(`${hook}/${webhook}/test`),
    other: '404 WEBHOOK_NOT_FOUND',
    boss: '409 WEBHOOK_DISABLED',
  },
  {
    operation: `POST ${hook}/{id}/rotate-secret`,
    call: (client, { webhook }) => client.post(`${hook}/${webhook}/rotate-secret`),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `PUT ${hook}`,
    call: (client, { webhook }) => client.put(hook, { id: webhook, url, status: '1' }),
    other: '404 WEBHOOK_NOT_FOUND',
  },
  {
    operation: `DELETE ${hook}/{id}`,
    // Not for good: what is deleted goes in the background, and the next would see that something has changed.
    call: (client, { webhook }) => client.delete(`${hook}/${webhook}`, { headers: { 'if-match': '"stale"' } }),
    other: '404 WEBHOOK_NOT_FOUND',
    boss: '412 CHANGED_MEANWHILE',
  },
  {
    operation: `POST ${dept}/{id}/restore`,
    call: (client, { goneDept }) => client.post(`${dept}/${goneDept}/restore`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `POST ${dept}/{id}/restore`,
    as: 'below their department',
    call: (client, { goneDept, leaf }) => client.post(`${dept}/${goneDept}/restore`, { parentId: leaf }),
    other: '404 DEPT_NOT_FOUND',
    boss: '409 DEPT_NOT_DELETED',
  },
  {
    operation: `POST ${people}/{id}/restore`,
    call: (client, { goneUser }) => client.post(`${people}/${goneUser}/restore`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `POST ${people}/{id}/restore`,
    as: 'in their tenant',
    call: (client, { goneUser, code }) => client.post(`${people}/${goneUser}/restore?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    boss: '409 USER_NOT_DELETED',
  },
  {
    operation: `POST ${tenant}/{id}/restore`,
    call: (client, { goneId }) => client.post(`${tenant}/${goneId}/restore`),
    other: '404 TENANT_NOT_FOUND',
  },
  {
    operation: 'POST /system/change-api/{id}/revert',
    call: (client, { change }) => client.post(`/system/change-api/${change}/revert`),
    other: '404 CHANGE_NOT_FOUND',
    boss: '409 CHANGE_CONTRADICTED',
  },
  {
    operation: 'POST /system/change-api/{id}/revert',
    as: 'in their tenant',
    call: (client, { change, code }) => client.post(`/system/change-api/${change}/revert?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    boss: '409 CHANGE_CONTRADICTED',
  },
  {
    operation: 'DELETE /auth/sessions/{id}',
    call: (client, { session }) => client.delete(`/auth/sessions/${session}`),
    other: '404 SESSION_NOT_FOUND',
    member: '404 SESSION_NOT_FOUND',
  },
  {
    operation: `DELETE ${dept}/{id}`,
    as: 'with all below it',
    call: (client, { parent }) => client.delete(`${dept}/${parent}?subtree=true`),
    other: '404 DEPT_NOT_FOUND',
    boss: '409 DEPT_HAS_USERS',
  },
  {
    operation: `DELETE ${dept}/{id}`,
    call: (client, { leaf }) => client.delete(`${dept}/${leaf}`),
    other: '404 DEPT_NOT_FOUND',
  },
  {
    operation: `DELETE ${people}/{id}`,
    as: 'in their tenant',
    call: (client, { user, code }) => client.delete(`${people}/${user}?tenantId=${code}`),
    other: '403 OTHER_TENANT',
    boss: FINE,
  },
  {
    operation: `DELETE ${people}/{id}`,
    call: (client, { user }) => client.delete(`${people}/${user}`),
    other: '404 USER_NOT_FOUND',
    boss: '404 USER_NOT_FOUND', // deleted a moment ago
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    as: 'their own',
    call: (client, { id }) => client.delete(`${tenant}/${id}`),
    other: '404 TENANT_NOT_FOUND',
    boss: '403 OWN_TENANT',
  },
  {
    operation: `DELETE ${tenant}/{id}`,
    call: (client, { belowId }) => client.delete(`${tenant}/${belowId}`),
    other: '404 TENANT_NOT_FOUND',
  },
];

/** An operation that asks for no token answers everybody alike. */
function open(operation: string, answer: string, call: Row['call']): Row[] {
  return [{ operation, call, other: answer, member: answer, boss: answer, open: true }];
}
