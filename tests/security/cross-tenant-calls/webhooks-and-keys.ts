import { disabledWebhook, hook, keys, newKey, OK, type Row } from './target.ts';

export const webhookAndKeyCalls: Row[] = [
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
];
