import { PASSWORD as password } from '../../support/service.ts';
import { dept, now, OK, people, type Row } from './target.ts';

export const userCalls: Row[] = [
  {
    operation: `GET ${people}/{id}`,
    variant: 'with asOf',
    call: (client, { user }) => client.get(`${people}/${user}?asOf=${now()}`),
    other: '404 USER_NOT_FOUND',
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
    operation: `GET ${people}/{id}/sessions`,
    call: (client, { user }) => client.get(`${people}/${user}/sessions`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `GET ${people}/{id}/sessions`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.get(`${people}/${user}/sessions?tenantId=${code}`),
    other: '403 OTHER_TENANT',
  },
  {
    operation: `DELETE ${people}/{id}/sessions`,
    call: (client, { user }) => client.delete(`${people}/${user}/sessions`),
    other: '404 USER_NOT_FOUND',
  },
  {
    operation: `DELETE ${people}/{id}/sessions`,
    variant: 'in the tenant',
    call: (client, { user, code }) => client.delete(`${people}/${user}/sessions?tenantId=${code}`),
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
    operation: `GET ${people}/list`,
    variant: 'sorted, with a cursor',
    call: (client) => client.get(`${people}/list?sort=-nickName&cursor=`),
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
];
