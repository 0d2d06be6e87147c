import assert from 'node:assert/strict';
import type { PlusUiResponse } from '../support/plus-ui.ts';
import { startService } from '../support/service.ts';

/** Helpers for tests of the RuoYi adapter. Requests have the methods, paths, headers and bodies that plus-ui 5.2 sends. */

export async function startRuoyiApi() {
  const service = await startService({
    BANYAN_RUOYI_API: '1',
    BANYAN_RUOYI_TENANTS: '000000=总部,123456',
    // A zone that hardly any machine uses, so that it differs from that of the process.
    BANYAN_TIME_ZONE: 'Asia/Kathmandu',
    // A limit that no test reaches.
    BANYAN_TENANT_REQUESTS_PER_SECOND: '100000',
  });
  const admin = await service.createTenant();
  const member = await service.createMember(admin, { userName: 'li', nickName: '小李' });
  return { service, root: service.root, anonymous: service.anonymous, admin, member };
}

/** Expects a success and returns its data. */
export function dataOf({ status, code, data, text }: PlusUiResponse) {
  assert.deepEqual([status, code], [200, 200], text);
  return data;
}

/** Expects an error as RuoYi sends it: HTTP 200, and the code in the body. */
export function expectFailure(response: PlusUiResponse, code: number, reason: string) {
  assert.deepEqual([response.status, response.code, response.data?.reason], [200, code, reason], response.text);
  assert.ok(response.msg.length > 3);
}

export function expectNotOffered(response: PlusUiResponse, feature: string) {
  expectFailure(response, 500, 'RUOYI_NOT_OFFERED');
  assert.equal(response.msg, `Banyan 不提供此功能：${feature}，支持的功能详见 docs/ruoyi-api.md`);
}
