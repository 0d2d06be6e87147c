import { csv, importFile } from '../support/import.ts';
import { type ApiResponse, type Client, PASSWORD } from '../support/service.ts';
import { dept, openStream, people, quotas } from './cross-tenant-calls/target.ts';

/** Calls of every operation that takes `?tenantId=`. */

const changes = '/system/change-api';

/** Records of the tenant that the calls name. `leaf` and `user` have the external id 1 of the source `hr`. */
export interface ActingTarget {
  dept: string;
  leaf: string;
  user: string;
  deletedDept: string;
  deletedUser: string;
  /** A change of a department that can be reverted. */
  change: string;
  /** Two open reservations of the quota `calls`, and a use of it. */
  reservations: [string, string];
  use: string;
}

interface ActingCall {
  operation: string;
  /** `query` is `tenantId=…`. */
  call(client: Client, query: string, target: ActingTarget): Promise<ApiResponse>;
  /** Whether it changes the tenant. */
  writes?: boolean;
  /** Whether it changes the tenant without a change in its ledger. */
  unrecorded?: boolean;
  /** Whether members may call it in their own tenant. */
  forMembers?: boolean;
  /** Whether the tenant's administrators get another response: they do not see the addresses of callers from tenants above. */
  differs?: boolean;
}

let names = 0;

/** Deletions come last, because the administrator above really performs each operation. */
export const actingCalls: ActingCall[] = [
  {
    operation: 'GET /system/search-api',
    call: (client, query, { leaf }) => client.get(`/system/search-api?q=${leaf}&${query}`),
    forMembers: true,
  },
  { operation: `GET ${quotas}`, call: (client, query) => client.get(`${quotas}?${query}`) },
  { operation: `GET ${quotas}/below`, call: (client, query) => client.get(`${quotas}/below?${query}`) },
  {
    operation: `GET ${quotas}/uses`,
    call: (client, query) => client.get(`${quotas}/uses?${query}`),
  },
  { operation: `GET ${quotas}/usage`, call: (client, query) => client.get(`${quotas}/usage?${query}`) },
  {
    operation: `POST ${quotas}/consume`,
    call: (client, query) => client.post(`${quotas}/consume?${query}`, { quota: 'calls' }),
    unrecorded: true,
  },
  {
    operation: `POST ${quotas}/reserve`,
    call: (client, query) => client.post(`${quotas}/reserve?${query}`, { quota: 'calls', seconds: 60 }),
    unrecorded: true,
  },
  {
    operation: `POST ${quotas}/reservations/{id}/confirm`,
    call: (client, query, { reservations: [id] }) => client.post(`${quotas}/reservations/${id}/confirm?${query}`),
    unrecorded: true,
  },
  {
    operation: `POST ${quotas}/reservations/{id}/release`,
    call: (client, query, { reservations: [, id] }) => client.post(`${quotas}/reservations/${id}/release?${query}`),
    unrecorded: true,
  },
  {
    operation: `POST ${quotas}/uses/{useId}/refund`,
    call: (client, query, { use }) => client.post(`${quotas}/uses/${use}/refund?${query}`),
    unrecorded: true,
  },
  {
    operation: `PUT ${quotas}/{quota}`,
    call: (client, query) => client.put(`${quotas}/further?${query}`, { total: 1 }),
    writes: true,
  },
  {
    operation: `GET ${dept}/{id}`,
    call: (client, query, { dept: id }) => client.get(`${dept}/${id}?${query}`),
    forMembers: true,
  },
  {
    operation: `GET ${dept}/external/{source}/{externalId}`,
    call: (client, query) => client.get(`${dept}/external/hr/1?${query}`),
    forMembers: true,
  },
  { operation: `GET ${dept}/list`, call: (client, query) => client.get(`${dept}/list?${query}`), forMembers: true },
  {
    operation: `POST ${dept}/batch-read`,
    call: (client, query, { leaf }) => client.post(`${dept}/batch-read?${query}`, { ids: [leaf] }),
    forMembers: true,
  },
  {
    operation: `GET ${dept}/{id}/children`,
    call: (client, query, { dept: id }) => client.get(`${dept}/${id}/children?${query}`),
    forMembers: true,
  },
  { operation: `GET ${dept}/tree`, call: (client, query) => client.get(`${dept}/tree?${query}`), forMembers: true },
  {
    operation: `GET ${dept}/{id}/history`,
    call: (client, query, { leaf }) => client.get(`${dept}/${leaf}/history?${query}`),
  },
  {
    operation: `GET ${dept}/diff`,
    call: (client, query) => client.get(`${dept}/diff?from=2020-01-01&to=2020-01-02&${query}`),
    forMembers: true,
  },
  {
    operation: `GET ${dept}/{id}/users`,
    call: (client, query, { dept: id }) => client.get(`${dept}/${id}/users?below=true&${query}`),
  },
  { operation: `GET ${dept}/export`, call: (client, query) => client.get(`${dept}/export?format=csv&${query}`) },
  { operation: `GET ${people}/export`, call: (client, query) => client.get(`${people}/export?format=csv&${query}`) },
  { operation: `GET ${people}/list`, call: (client, query) => client.get(`${people}/list?${query}`) },
  {
    operation: `GET ${people}/{id}/sessions`,
    call: (client, query, { user }) => client.get(`${people}/${user}/sessions?${query}`),
  },
  {
    operation: `DELETE ${people}/{id}/sessions`,
    // The user has never logged in, so no session ends and the ledger records nothing.
    call: (client, query, { user }) => client.delete(`${people}/${user}/sessions?${query}`),
    unrecorded: true,
  },
  {
    operation: `GET ${people}/{id}/leaders`,
    call: (client, query, { user }) => client.get(`${people}/${user}/leaders?${query}`),
  },
  {
    operation: 'GET /system/entitlement-api',
    call: (client, query, { user }) => client.get(`/system/entitlement-api?${query}&userId=${user}`),
  },
  {
    operation: `POST ${dept}`,
    call: (client, query, { user }) => client.post(`${dept}?${query}`, { leaderId: user }),
    writes: true,
  },
  {
    operation: `GET ${people}/external/{source}/{externalId}`,
    call: (client, query) => client.get(`${people}/external/hr/1?${query}`),
  },
  { operation: `GET ${people}/{id}`, call: (client, query, { user }) => client.get(`${people}/${user}?${query}`) },
  { operation: `GET ${changes}`, call: (client, query) => client.get(`${changes}?${query}`) },
  { operation: `GET ${changes}`, call: (client, query) => client.get(`${changes}?below=true&${query}`) },
  { operation: `GET ${changes}/stream`, call: (client, query) => openStream(client, `${changes}/stream?${query}`) },
  {
    operation: `GET ${changes}/stream`,
    call: (client, query) => openStream(client, `${changes}/stream?below=true&${query}`),
  },
  { operation: `GET ${changes}/list`, call: (client, query) => client.get(`${changes}/list?${query}`), differs: true },
  {
    operation: `GET ${changes}/list`,
    call: (client, query) => client.get(`${changes}/list?below=true&${query}`),
    differs: true,
  },
  {
    operation: `POST ${changes}/{id}/revert`,
    call: (client, query, { change }) => client.post(`${changes}/${change}/revert?${query}`),
    writes: true,
  },
  { operation: `POST ${dept}`, call: (client, query) => client.post(`${dept}?${query}`, {}), writes: true },
  {
    operation: `POST ${dept}/bulk`,
    call: (client, query) => client.post(`${dept}/bulk?${query}`, { departments: [{ ref: 'a' }] }),
    writes: true,
  },
  ...[dept, people].map(
    (path): ActingCall => ({
      operation: `GET ${path}/import/template`,
      call: (client, query) => client.get(`${path}/import/template?format=csv&${query}`),
    }),
  ),
  {
    operation: `POST ${dept}/import`,
    call: (client, query) => importFile(client, 'dept', 'preview', csv([['部门路径'], ['a']]), { query: `&${query}` }),
  },
  {
    operation: `POST ${dept}/import`,
    call: (client, query) =>
      importFile(client, 'dept', 'apply', csv([['部门路径'], [`new-${++names}`]]), { query: `&${query}` }),
    writes: true,
  },
  {
    operation: `POST ${people}/import`,
    call: (client, query) =>
      importFile(client, 'user', 'apply', csv([['用户名'], [`new-${++names}`]]), { query: `&${query}` }),
    writes: true,
  },
  {
    operation: `PUT ${dept}`,
    call: (client, query, { leaf }) => client.put(`${dept}?${query}`, { deptId: leaf, deptName: `new ${++names}` }),
    writes: true,
  },
  {
    operation: `PUT ${dept}`,
    call: (client, query, { leaf, dept: parentId }) => client.put(`${dept}?${query}`, { deptId: leaf, parentId }),
    writes: true,
  },
  {
    operation: `PATCH ${dept}/{id}`,
    call: (client, query, { leaf }) => client.call('PATCH', `${dept}/${leaf}?${query}`, { deptName: `new ${++names}` }),
    writes: true,
  },
  {
    operation: `PUT ${dept}/order`,
    call: (client, query, { leaf, dept: parentId }) =>
      client.put(`${dept}/order?${query}`, { parentId, deptIds: [leaf] }),
  },
  {
    operation: `POST ${dept}/{id}/restore`,
    call: (client, query, { deletedDept }) => client.post(`${dept}/${deletedDept}/restore?${query}`),
    writes: true,
  },
  {
    operation: `POST ${people}`,
    call: (client, query) => client.post(`${people}?${query}`, { userName: `new-${++names}`, password: PASSWORD }),
    writes: true,
  },
  {
    operation: `POST ${people}/bulk`,
    call: (client, query) =>
      client.post(`${people}/bulk?${query}`, { users: [{ ref: 'a', userName: `new-${++names}`, password: PASSWORD }] }),
    writes: true,
  },
  {
    operation: `POST ${people}/batch-read`,
    call: (client, query, { user }) => client.post(`${people}/batch-read?${query}`, { ids: [user] }),
  },
  {
    operation: `PATCH ${people}/{id}`,
    call: (client, query, { user }) =>
      client.call('PATCH', `${people}/${user}?${query}`, { nickName: `new ${++names}` }),
    writes: true,
  },
  {
    operation: `PUT ${people}`,
    call: (client, query, { user }) => client.put(`${people}?${query}`, { userId: user, nickName: `new ${++names}` }),
    writes: true,
  },
  {
    operation: `POST ${people}/{id}/restore`,
    call: (client, query, { deletedUser }) => client.post(`${people}/${deletedUser}/restore?${query}`),
    writes: true,
  },
  {
    operation: `DELETE ${people}/{id}`,
    call: (client, query, { user }) => client.delete(`${people}/${user}?${query}`),
    writes: true,
  },
  {
    operation: `DELETE ${dept}/{id}`,
    call: (client, query, { dept: id }) => client.delete(`${dept}/${id}?subtree=true&${query}`),
    writes: true,
  },
];
