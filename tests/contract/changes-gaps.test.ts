import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CHANGES } from '../support/expect.ts';
import { type Client, startService } from '../support/service.ts';

/** Feeds whose next change comes after a long run of changes that are skipped or no longer stored. */

/**
 * Longer than two pages: with `feedScanMs` 0, a page skips at most 10,000 positions in the feed of one tenant, and at
 * most `limit` changes in the feed of a subtree.
 */
const OWN_FEED_GAP = 25_000;
const SUBTREE_GAP = 3_500;
const service = await startService({}, { timing: { feedScanMs: 0 } });
const { superuser } = service;

/** Adds positions without changes to the end of both feeds of a tenant, as they are after the archive has been emptied. */
async function addGap({ tenantId }: Client, length: number): Promise<void> {
  await superuser.begin(async (tx) => {
    await tx`
      insert into banyan.seals select tenant_id, h.seq + n, -n, '', true
      from banyan.seal_heads h, generate_series(1, ${length}) n where tenant_id = ${tenantId}`;
    await tx`update banyan.seal_heads set seq = seq + ${length} where tenant_id = ${tenantId}`;
    await tx`select from banyan.change_order for update`;
    await tx`
      insert into banyan.change_positions select ${tenantId}, o.position + n, -n, false
      from banyan.change_order o, generate_series(1, ${length}) n`;
    await tx`update banyan.change_order set position = position + ${length}`;
  });
}

for (const below of [false, true]) {
  const path = `${CHANGES}?limit=1000&below=${below}`;

  test(`pages with an advancing cursor, long polling and streams get past a long gap, with below=${below}`, async () => {
    const admin = await service.createTenant();
    const { data: start } = await admin.get(`${path}&after=latest`);
    await addGap(admin, below ? SUBTREE_GAP : OWN_FEED_GAP);
    const id = await admin.createDepartment();
    const pages: { rows: { resourceId: string }[]; next: string }[] = [];
    for (let after = start.next; pages.at(-1)?.rows.length !== 1; after = pages.at(-1)?.next) {
      const { data } = await admin.get(`${path}&after=${after}`);
      assert.ok(Number(data.next) > Number(after), 'the cursor advances');
      pages.push(data);
    }
    assert.ok(pages.length > 2, `${pages.length} pages`);
    assert.equal(pages.at(-1)?.rows[0]?.resourceId, id);
    // Long polling and streams go on by themselves.
    const { data: polled } = await admin.get(`${path}&after=${start.next}&wait=60`);
    assert.deepEqual(polled.rows[0].resourceId, id);
    const controller = new AbortController();
    const response = await fetch(`${service.base}${CHANGES}/stream?below=${below}&after=${start.next}`, {
      headers: { authorization: `Bearer ${admin.token}` },
      signal: controller.signal,
    });
    let text = '';
    for await (const chunk of response.body ?? []) {
      text += Buffer.from(chunk).toString('utf8');
      if (text.includes('event: change')) break;
    }
    controller.abort();
    assert.ok(text.includes(`"resourceId":"${id}"`), text);
  });
}
