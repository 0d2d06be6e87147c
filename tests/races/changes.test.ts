import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Client, startService } from '../harness.ts';
import { chance, firstSeed, report, scale, Tally, together } from '../scale.ts';

const service = await startService();
const dept = '/system/dept-api';

interface Row {
  id: number;
  resource: string;
  resourceId: string;
  before: { deptId: number } | null;
  after: { deptId: number; parentId: number; deptName: string } | null;
}

/** What a follower knows who has never seen anything but the feed. */
class Copy {
  readonly tree = new Map<number, NonNullable<Row['after']>>();
  readonly seen = new Set<number>();
  after = '0';

  take(rows: Row[]) {
    for (const { id, resource, before, after } of rows) {
      assert.ok(!this.seen.has(id), 'told twice');
      this.seen.add(id);
      if (resource !== 'department') continue;
      if (before) assert.ok(this.tree.has(before.deptId), 'a change of what was never told of');
      if (!after) this.tree.delete(before?.deptId as number);
      else {
        // Nothing comes before what it stands on.
        if (after.parentId !== 0) assert.ok(this.tree.has(after.parentId), `${after.deptId} below an unknown parent`);
        this.tree.set(after.deptId, after);
      }
    }
  }

  async follow(client: Client, wait: number) {
    const { data, text } = await client.get(`/system/change-api?after=${this.after}&limit=50&wait=${wait}`);
    assert.ok(data?.rows, text);
    this.take(data.rows);
    this.after = data.next;
    return data.rows.length as number;
  }
}

test('the whole tree, rebuilt from the feed alone while 16 write', { timeout: 1_200_000 }, async (t) => {
  const tally = new Tally();
  for (let run = 0; run < scale(2, 100); run++) {
    const boss = await service.tenant();
    const { pick, below } = chance(firstSeed + run);
    const ids = await Promise.all(Array.from({ length: 8 }, (_, n) => boss.dept({ deptName: `root ${n}` })));
    const copy = new Copy();
    let writing = true;
    const followed = (async () => {
      while (writing) await copy.follow(boss, 1);
      while ((await copy.follow(boss, 0)) > 0);
    })();
    await together(16, 300, async (n) => {
      const id = pick(ids);
      const act = below(10);
      const answer =
        act < 5
          ? await boss.post(dept, { parentId: id, deptName: `made ${n}` })
          : act < 7
            ? await boss.put(dept, { deptId: id, deptName: `named ${n}` })
            : act < 9
              ? await boss.put(dept, { deptId: id, deptName: `moved ${n}`, parentId: pick(ids) })
              : await boss.delete(`${dept}/${id}${below(3) === 0 ? '?subtree=true' : ''}`);
      if (answer.code === 200 && act < 5) ids.push(String(answer.headers.location).split('/').at(-1) as string);
      tally.add(answer.code === 200 ? 'done' : (answer.data?.reason ?? answer.code));
    });
    writing = false;
    await followed;
    const rows = await service.superuser<{ deptId: number; parentId: number; deptName: string }[]>`
      select dept_id as "deptId", coalesce(parent_id, 0) as "parentId", dept_name as "deptName"
      from banyan.departments where tenant_id = ${boss.tenantId} and del_flag = '0' order by dept_id`;
    const known = [...copy.tree.values()]
      .map(({ deptId, parentId, deptName }) => ({ deptId, parentId, deptName }))
      .sort((a, b) => a.deptId - b.deptId);
    assert.deepEqual(known, [...rows]);
  }
  assert.ok(tally.get('done') > 100);
  report(t, tally.counts);
});
