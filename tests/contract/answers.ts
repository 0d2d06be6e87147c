import assert from 'node:assert/strict';
import type { Answer, Client } from '../harness.ts';

/** What the contract tests ask of every answer, told once. */

export const DEPTS = '/system/dept-api';

/** The whole of a success: this envelope and nothing beside it. */
export function assertOk(answer: Answer, data: unknown = null): void {
  assert.equal(answer.status, 200, answer.text);
  assert.deepEqual(JSON.parse(answer.text), { code: 200, msg: '操作成功', data });
}

/** A refusal: HTTP status = code, a sentence, the reason; and the facts that are asked for. */
export function assertRefused(answer: Answer, status: number, reason: string, facts: Record<string, unknown> = {}) {
  const { code, msg, data, ...beside } = JSON.parse(answer.text);
  assert.deepEqual({ http: answer.status, code, reason: data?.reason }, { http: status, code: status, reason });
  assert.match(msg, /\S/);
  assert.deepEqual(beside, {});
  for (const [name, fact] of Object.entries(facts)) assert.deepEqual(data[name], fact, `${name} in ${answer.text}`);
}

/** Input that is refused with a sentence that names the field. */
export function assertInvalid(answer: Answer, field: string, reason = 'INVALID_FIELD'): void {
  assertRefused(answer, 400, reason, { field });
  assert.ok(answer.msg.includes(field), `"${answer.msg}" names ${field}`);
}

/** A department as the read operation shows it. */
export async function readDept(client: Client, id: string | number, query = '') {
  const answer = await client.get(`${DEPTS}/${id}${query}`);
  assert.equal(answer.code, 200, answer.text);
  return answer.data;
}

/** Does the work, and sees that the department reads the same afterwards. */
export async function assertUnchanged(client: Client, id: string, work: () => Promise<unknown>): Promise<void> {
  const before = await readDept(client, id);
  await work();
  assert.deepEqual(await readDept(client, id), before);
}
