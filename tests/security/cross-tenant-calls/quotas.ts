import { quotas, type Row } from './target.ts';

export const quotaCalls: Row[] = [
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
    call: (client, { secondReservation }) => client.post(`${quotas}/reservations/${secondReservation}/release`),
    other: '404 RESERVATION_NOT_FOUND',
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
];
