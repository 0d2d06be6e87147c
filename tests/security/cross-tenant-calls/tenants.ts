import { PASSWORD as password } from '../../support/service.ts';
import { now, OK, type Row, tenant } from './target.ts';

export const tenantCalls: Row[] = [
  {
    operation: `GET ${tenant}/{id}`,
    variant: 'with asOf',
    call: (client, { belowId }) => client.get(`${tenant}/${belowId}?asOf=${now()}`),
    other: '404 TENANT_NOT_FOUND',
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
];
