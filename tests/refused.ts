import assert from 'node:assert/strict';
import type { Answer, Service } from './harness.ts';

/** What every refusal has, whoever refused: schema, rule, router, parser or framework. */
export function assertRefused(
  answer: Answer,
  status: number,
  reason: string,
  facts: Record<string, unknown> = {},
  what = '',
): void {
  const told = `${what} answered ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.equal(answer.status, status, told);
  assert.equal(answer.headers['content-type'], 'application/json; charset=utf-8', told);
  assert.deepEqual(Object.keys(JSON.parse(answer.text)), ['code', 'msg', 'data'], told);
  assert.equal(answer.code, status, told);
  assert.equal(answer.data.reason, reason, told);
  for (const [name, fact] of Object.entries(facts)) assert.deepEqual(answer.data[name], fact, told);
  assert.ok(typeof answer.msg === 'string' && answer.msg.length > 3, told);
  // A sentence whose facts are missing, or that shows how the service is made inside.
  assert.doesNotMatch(answer.text, /undefined|\[object|FST_|HPE_|\bat .*[jt]s:\d+|node_modules|postgres/i, told);
  assert.match(String(answer.headers['x-request-id'] ?? ''), /^[\w.-]{1,64}$/, `${told} without X-Request-Id`);
}

/** All that is stored, in short: two of them are equal when nothing was written in between. */
export async function storedState({ superuser }: Service): Promise<Record<string, string>> {
  const tables = await superuser<{ name: string }[]>`
    select relname as name from pg_class where relnamespace = 'banyan'::regnamespace and relkind = 'r'
      -- Seals follow what was written before, by themselves; what is written is in \`changes\`.
      and relname not in ('unsealed', 'seals', 'seal_heads') order by 1`;
  const states = tables.map(async ({ name }) => {
    const [row] = await superuser<[{ state: string }]>`
      select count(*) || ' rows, ' || coalesce(md5(string_agg(t::text, ';' order by t::text)), '') as state
      from ${superuser(name)} t`;
    return [name, row.state];
  });
  return Object.fromEntries(await Promise.all(states));
}

/** Runs many small cases, some at a time. */
export async function each<T>(cases: readonly T[], run: (one: T) => Promise<void>): Promise<void> {
  for (let at = 0; at < cases.length; at += 16) await Promise.all(cases.slice(at, at + 16).map(run));
}
