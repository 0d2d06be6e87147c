import assert from 'node:assert/strict';
import type { Answer, Client } from '../harness.ts';

/** What the contract tests of tenants and users share. */

export const TENANTS = '/system/tenant-api';
export const USERS = '/system/user-api';
export const DEPTS = '/system/dept-api';

/** The whole answer to a create, update or delete that worked. */
export function done(answer: Answer): Answer {
  assert.deepEqual(JSON.parse(answer.text), { code: 200, msg: '操作成功', data: null });
  assert.equal(answer.status, 200);
  return answer;
}

/** A refusal: HTTP status = `code`, a sentence, the reason, and the facts that are asked for. */
export function refused(answer: Answer, status: number, reason: string, facts: Record<string, unknown> = {}): void {
  const { code, data } = answer;
  const told = Object.fromEntries(Object.keys(facts).map((name) => [name, data?.[name]]));
  assert.deepEqual(
    { status: answer.status, code, reason: data?.reason, ...told },
    { status, code: status, reason, ...facts },
    answer.text,
  );
  assert.ok(answer.msg);
}

/** Reads, insists that it worked, and tells the data. */
export async function read(client: Client, path: string): Promise<Answer['data']> {
  const answer = await client.get(path);
  assert.equal(answer.code, 200, answer.text);
  return answer.data;
}

/** The caller's own user, as a read shows it. */
export const me = async (client: Client): Promise<Answer['data']> => (await read(client, '/auth/me')).user;
