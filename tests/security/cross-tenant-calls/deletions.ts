import { dept, OK, people, type Row, tenant } from './target.ts';

/** Restores, reverts and deletions, which come last. */
export const deletionCalls: Row[] = [
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
    call: (client, { secondUser }) => client.delete(`${people}/${secondUser}`),
    other: '404 USER_NOT_FOUND',
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
