import assert from 'node:assert/strict';
import type { Sql } from '../../db/driver.ts';
import type { ApiResponse, Client, Service } from './service.ts';

/** The paths of the API, and assertions on its responses. */

export const DEPTS = '/system/dept-api';
export const TENANTS = '/system/tenant-api';
export const USERS = '/system/user-api';
export const CHANGES = '/system/change-api';

/** Returns the status and the error code of a response in one string, such as `200 OK` or `401 NO_TOKEN`. */
export const outcomeOf = ({ status, data }: ApiResponse): string => `${status} ${data?.reason ?? 'OK'}`;

/** Returns `done` for a success, otherwise the error code of the response. */
export const resultOf = ({ code, data }: ApiResponse): string =>
  code === 200 ? 'done' : (data?.reason ?? String(code));

/** Returns the time of the database, with microseconds. */
export async function databaseTime(
  { superuser }: Pick<Service, 'superuser'>,
  format = 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"',
  zone = 'UTC',
): Promise<string> {
  const [{ time }] = await superuser<[{ time: string }]>`
    select to_char(clock_timestamp() at time zone ${zone}, ${format}) as time`;
  return time;
}

/** Expects success: exactly this envelope. */
export function expectOk(response: ApiResponse, data: unknown = null): ApiResponse {
  assert.equal(response.status, 200, response.text);
  assert.deepEqual(JSON.parse(response.text), { code: 200, msg: '操作成功', data });
  return response;
}

/**
 * Expects an error with this status and code, and with these fields besides the code. Every error has the same form, whether
 * a schema, a rule, the router, the parser or the framework raised it.
 */
export function expectError(
  response: ApiResponse,
  status: number,
  reason: string,
  fields: Record<string, unknown> = {},
  name = '',
): void {
  const shown = `${name} responded ${response.status} ${response.text.slice(0, 500)}`;
  assert.deepEqual([response.status, response.data?.reason], [status, reason], shown);
  assert.equal(response.headers['content-type'], 'application/json; charset=utf-8', shown);
  assert.deepEqual(Object.keys(JSON.parse(response.text)), ['code', 'msg', 'data'], shown);
  assert.equal(response.code, status, shown);
  for (const [field, value] of Object.entries(fields))
    assert.deepEqual(response.data[field], value, `${field}: ${shown}`);
  assert.ok(typeof response.msg === 'string' && response.msg.length > 3, shown);
  // The message must have no unfilled placeholder and show no internals.
  assert.doesNotMatch(response.text, /undefined|\[object|FST_|HPE_|\bat .*[jt]s:\d+|node_modules|postgres/i, shown);
  assert.match(String(response.headers['x-request-id'] ?? ''), /^[\w.-]{1,64}$/, `${shown} without X-Request-Id`);
}

/** Expects that the input is rejected with a message that names the field. */
export function expectInvalid(response: ApiResponse, field: string, reason = 'INVALID_FIELD'): void {
  expectError(response, 400, reason, { field });
  assert.ok(response.msg.includes(field), `"${response.msg}" should name ${field}`);
}

/** Reads, expects success and returns the data. */
export async function read(client: Client, path: string): Promise<ApiResponse['data']> {
  const response = await client.get(path);
  assert.equal(response.code, 200, response.text);
  return response.data;
}

export const readDept = (client: Client, id: string | number, query = '') => read(client, `${DEPTS}/${id}${query}`);

/** Reads the caller's own user. */
export const me = async (client: Client): Promise<ApiResponse['data']> => (await read(client, '/auth/me')).user;

/** Expects that the work does not change the department. */
export async function expectUnchanged(client: Client, id: string, work: () => Promise<unknown>): Promise<void> {
  const before = await readDept(client, id);
  await work();
  assert.deepEqual(await readDept(client, id), before);
}

/**
 * Returns a digest of every table, except those that background work changes. Two are equal if nothing was written in between.
 */
export async function storedState({ superuser }: Service): Promise<Record<string, string>> {
  const tables = await superuser<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relkind = 'r'
      -- Sealing and ordering run in the background, as does recording when a key was last used. Writes are visible in
      -- \`changes\`.
      and relname not in ('unsealed_changes', 'seals', 'seal_heads', 'unordered_changes', 'change_positions',
        'change_order', 'webhook_subtree_marks', 'api_key_uses') order by 1`;
  const states = tables.map(
    ({ name }) => `
      select '${name}' as name, count(*) || ' rows, ' ||
        coalesce(md5(string_agg(t::text, ';' order by t::text collate "C")), '') as state
      from banyan.${name} t`,
  );
  const rows = await readSerially<{ name: string; state: string }[]>(superuser, states.join(' union all '));
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

/** Returns a function that expects that nothing was written since it was last called. */
export async function watchWrites(service: Service): Promise<() => Promise<void>> {
  let last = await storedState(service);
  return async () => {
    const before = last;
    last = await storedState(service);
    assert.deepEqual(last, before);
  };
}

/** Runs a query without parallel workers: starting them would take ten times as long as reading the small tables of a test. */
export async function readSerially<T extends object[]>(superuser: Sql, query: string): Promise<T> {
  // Statements that are sent together are one transaction.
  const [, rows] = await superuser.unsafe<[[], T]>(`set local max_parallel_workers_per_gather = 0; ${query}`);
  return rows as T;
}

/** Runs many small cases, 16 concurrently. */
export async function runCases<T>(cases: readonly T[], run: (item: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < cases.length; start += 16) await Promise.all(cases.slice(start, start + 16).map(run));
}
