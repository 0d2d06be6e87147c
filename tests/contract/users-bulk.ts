import assert from 'node:assert/strict';
import { PASSWORD } from '../support/database.ts';
import { read, storedState, USERS } from '../support/expect.ts';
import { type Client, type Service, startService } from '../support/service.ts';

/** Helpers for tests of POST /system/user-api/bulk, which creates many users in one request. */

export async function startUsersBulk(start: () => Promise<Service> = startService) {
  const service = await start();
  const admin = await service.createTenant();
  const neighbour = await service.createTenant();
  const add = (users: unknown[], more: Record<string, unknown> = {}, client: Client = admin, query = '') =>
    client.post(`${USERS}/bulk${query}`, { users, ...more });
  const expectNothingWritten = async (work: () => Promise<unknown>): Promise<void> => {
    const before = await storedState(service);
    await work();
    assert.deepEqual(await storedState(service), before);
  };
  return { service, root: service.root, admin, neighbour, add, expectNothingWritten };
}

export const row = (name: string, more: Record<string, unknown> = {}) => ({
  ref: `ref ${name}`,
  userName: name,
  password: PASSWORD,
  ...more,
});

/** The ids of the users of a tenant without its first administrator. */
export const idsOf = async (client: Client) =>
  (await read(client, `${USERS}/list?pageSize=500`)).rows.slice(1).map(({ userId }: { userId: number }) => userId);
