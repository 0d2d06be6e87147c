import assert from 'node:assert/strict';
import { expectOk, read } from '../support/expect.ts';
import { type ApiResponse, type Client, startService } from '../support/service.ts';

export const QUOTAS = '/system/quota-api';

/** Starts a service whose quotas take the time from `clock`, if it is set. */
export async function startQuotas(timeZone = 'Asia/Shanghai') {
  const clock: { time: Date | undefined } = { time: undefined };
  const service = await startService({ BANYAN_TIME_ZONE: timeZone }, { quotaTime: () => clock.time });
  const { root } = service;
  const tenantWith = async (quota: string, body: object) => {
    const admin = await service.createTenant();
    expectOk(await put(root, admin, quota, body));
    return admin;
  };
  return { service, root, clock, tenantWith };
}

/** Creates or replaces a quota of a tenant below. */
export const put = (above: Client, of: Client, quota: string, body: object) =>
  above.put(`${QUOTAS}/${quota}?tenantId=${of.tenantId}`, body);

export const quotaOf = async (client: Client, quota: string) =>
  (await read(client, QUOTAS)).find((each: { quota: string }) => each.quota === quota);

export const numbersOf = async (client: Client, quota: string) => {
  const { total, used, reserved, left } = await quotaOf(client, quota);
  return [total, used, reserved, left];
};

export const consume = (client: Client, quota: string, amount?: number, more: object = {}) =>
  client.post(`${QUOTAS}/consume`, { quota, amount, ...more });

export const reserve = (client: Client, quota: string, amount: number, seconds = 86_400) =>
  client.post(`${QUOTAS}/reserve`, { quota, amount, seconds });

export const dataOf = (response: ApiResponse) => {
  assert.equal(response.status, 200, response.text);
  return response.data;
};
