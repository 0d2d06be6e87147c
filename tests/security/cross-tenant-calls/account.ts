import { randomUUID } from 'node:crypto';
import { postForm } from '../../support/oauth.ts';
import { PASSWORD as password } from '../../support/service.ts';
import { OK, openStream, publicOperation, type Row } from './target.ts';

/** Operations on the caller's own account and tenant, and public ones. */
export const accountCalls: Row[] = [
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
    operation: 'GET /system/search-api',
    call: (client, { leaf }) => client.get(`/system/search-api?q=${leaf}`),
    other: OK,
    member: OK,
  },
  {
    operation: 'GET /system/search-api',
    variant: 'in the tenant',
    call: (client, { code }) => client.get(`/system/search-api?q=a&tenantId=${code}`),
    other: '403 OTHER_TENANT',
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
];
