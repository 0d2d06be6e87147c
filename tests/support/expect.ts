import assert from 'node:assert/strict';
import type { Answer, Client, Service } from './service.ts';

/** What every test expects of a response, written once. */

export const DEPTS = '/system/dept-api';
export const TENANTS = '/system/tenant-api';
export const USERS = '/system/user-api';

/** Expects success: this envelope and nothing beside it. */
export function expectOk(answer: Answer, data: unknown = null): Answer {
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(JSON.parse(answer.text), { code: 200, msg: '操作成功', data });
  return answer;
}

/**
 * Expects an error with this status and reason, and with these facts beside the reason. Every error has the same form,
 * whether a schema, a rule, the router, the parser or the framework raised it.
 */
export function expectError(
  answer: Answer,
  status: number,
  reason: string,
  facts: Record<string, unknown> = {},
  what = '',
): void {
  const shown = `${what} answered ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.deepEqual([answer.status, answer.data?.reason], [status, reason], shown);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', shown);
  assert.deepEqual(Object.keys(JSON.parse(answer.text)), ['code', 'msg', 'data'], shown);
  assert.equal(answer.code, status, shown);
  for (const [name, fact] of Object.entries(facts)) assert.deepEqual(answer.data[name], fact, `${name}: ${shown}`);
  assert.ok(typeof answer.msg === 'string' && answer.msg.length > 3, shown);
  // A sentence with a missing fact, or one that shows internals.
  assert.doesNotMatch(answer.text, /undefined|\[object|FST_|HPE_|\bat .*[jt]s:\d+|node_modules|postgres/i, shown);
  assert.match(String(answer.headers['x-request-id'] ?? ''), /^[\w.-]{1,64}$/, `${shown} without X-Request-Id`);
}

/** Expects that the input is rejected with a sentence that names the field. */
export function expectInvalid(answer: Answer, field: string, reason = 'INVALID_FIELD'): void {
  expectError(answer, 400, reason, { field });
  assert.ok(answer.msg.includes(field), `"${answer.msg}" names ${field}`);
}

/** Reads, expects success and returns the data. */
export async function read(client: Client, path: string): Promise<Answer['data']> {
  const answer = await client.get(path);
  assert.equal(answer.code, 200, answer.text);
  return answer.data;
}

/** A department as the read operation shows it. */
export const readDept = (client: Client, id: string | number, query = '') => read(client, `${DEPTS}/${id}${query}`);

/** The caller's own user, as a read shows it. */
export const me = async (client: Client): Promise<Answer['data']> => (await read(client, '/auth/me')).user;

/** Does the work and expects that the department reads the same afterwards. */
export async function expectUnchanged(client: Client, id: string, work: () => Promise<unknown>): Promise<void> {
  const before = await readDept(client, id);
  await work();
  assert.deepEqual(await readDept(client, id), before);
}

/** A digest of every table: two are equal when nothing was written in between. */
export async function storedState({ superuser }: Service): Promise<Record<string, string>> {
  const tables = await superuser<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relkind = 'r'
      -- Sealing runs in the background; what is written is in \`changes\`.
      and relname not in ('unsealed', 'seals', 'seal_heads') order by 1`;
  const states = tables.map(
    ({ name }) => `
      select '${name}' as name, count(*) || ' rows, ' ||
        coalesce(md5(string_agg(t::text, ';' order by t::text collate "C")), '') as state
      from banyan.${name} t`,
  );
  const rows = await superuser.unsafe<{ name: string; state: string }[]>(states.join(' union all '));
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
}

/** Runs many small cases, 16 at a time. */
export async function each<T>(cases: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < cases.length; at += 16) await Promise.all(cases.slice(at, at + 16).map(run));
}
