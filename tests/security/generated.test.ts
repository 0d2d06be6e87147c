import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { assertDocumented, type Operation, readOperations } from '../support/document.ts';
import { chance, firstSeed, report, scale, Tally, together } from '../support/scale.ts';
import { type Answer, Client, PASSWORD, startService } from '../support/service.ts';
import { type Generated, type Ids, requestOf } from './arbitrary.ts';

/**
 * Requests by chance over every operation, made from the document: whatever comes, the answer is one that the document
 * describes, and never a fault of ours.
 */

// The long run outlasts a token.
const service = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
// A stream of events has no end to look at: tests/contract/changes-stream.test.ts.
const operations = (await readOperations(service)).filter(({ operationId }) => operationId !== 'streamChanges');
const WORKERS = 6;

interface Scene {
  boss: Client;
  member: Client;
  anonymous: Client;
  ids: Ids;
}

/** A tenant to be called upon. A new one for each batch: what comes by chance disables and deletes what it finds. */
async function setScene(): Promise<Scene> {
  const boss = await service.createTenant();
  const child = await service.createTenant({}, boss);
  const top = await boss.createDepartment({ deptName: 'top' });
  const depts = [top, await boss.createDepartment({ parentId: top }), await boss.createDepartment()];
  const users = [await boss.createUser({ userName: 'anna', deptId: top }), await boss.createUser({ userName: 'otto' })];
  const member = await service.createMember(boss, { userName: memberName });
  const ids = { dept: depts, user: [...users, member.id], tenant: [child.id, boss.id], code: [child.tenantId] };
  return { boss, member, anonymous: service.anonymous, ids: { ...ids, code: [...ids.code, boss.tenantId] } };
}

/** Every header that could decide over the body is there, so that requests without one are well formed too. */
const send = (scene: Scene, { operation, path, headers, raw, who }: Generated): Promise<Answer> =>
  scene[who].call(operation.method, path, undefined, {
    headers,
    ...(raw === undefined ? {} : { raw }),
    // Failed logins close an address after a while: theirs is not the one that the scenes log in from.
    from: '127.0.0.9',
  });

test('generated requests over every operation: no fault, no crash, every answer as documented', async (t) => {
  const batches = scale(1, 850);
  let count = 0;
  const [statuses, reached] = [new Tally(), new Tally()];
  for (let batch = 0; batch < batches; batch++) {
    const scene = await setScene();
    const seed = firstSeed * 1_000_003 + batch;
    const { below } = chance(seed);
    // Each operation has its share, and they come in an order by chance.
    const requests = operations
      .flatMap((operation) => fc.sample(requestOf(operation, scene.ids), { seed, numRuns: weightOf(operation) }))
      .map((generated) => ({ generated, place: below(1_000_000) }))
      .sort((a, b) => a.place - b.place)
      .map(({ generated }) => generated);
    count += requests.length;
    await together(WORKERS, requests.length, async (n) => {
      const generated = requests[n] as Generated;
      const { operation, ...sent } = generated;
      const told = `seed ${seed}, request ${n}: ${operation.operationId} ${JSON.stringify(sent).slice(0, 3_000)}`;
      const caller = scene[generated.who];
      const answer = await send(scene, generated).catch((error) => assert.fail(`${told}: ${error}`));
      statuses.add(answer.status);
      if (answer.code === 200) reached.add(operation.operationId);
      if (answer.data?.reason === 'SESSION_ENDED' && caller === scene[generated.who]) {
        scene[generated.who] = await logInAgain(caller, generated.who);
      }
      assert.ok(answer.status < 500, `${told}: ${answer.text}`);
      assertDocumented(operation, answer);
      assert.ok(answer.text.length < 2_000_000, told);
    });
  }
  report(t, { seed: firstSeed, requests: count, ...statuses.counts, succeeded: reached.counts });
  assert.equal((await service.anonymous.get('/health/ready')).code, 200, 'the service is as well as before');
  const never = operations.filter(({ operationId }) => !reached.get(operationId)).map(({ operationId }) => operationId);
  // Nobody guesses a password, a refresh token, or an address outside that a webhook may go to; and what is undone must
  // have been done. Of few requests some others may all fail too.
  const hardly = /^(changePassword|logIn|refresh)$|Webhook|Deliver|^restore|^revert/;
  const unreached = never.filter((name) => !hardly.test(name));
  assert.ok(unreached.length <= scale(operations.length / 3, 0), unreached.join());
});

/**
 * Logged out by chance. When he is disabled or has another password by now, he stays out until the next scene; from
 * addresses that change, or his failures would close the one that all scenes log in from.
 */
async function logInAgain(caller: Client, who: Generated['who']): Promise<Client> {
  const login = { tenantId: caller.tenantId, username: who === 'boss' ? 'boss' : memberName, password: PASSWORD };
  const from = `127.2.${(again >> 7) & 255}.${1 + (again++ & 127)}`;
  const { data } = await service.anonymous.post('/auth/login', login, { from });
  return data?.access_token ? new Client(service.base, data.access_token, '', caller.tenantId) : caller;
}
let again = 0;
const memberName = 'member1';

/** More of those that do much, fewer of those that ask nothing or end a session. */
const weightOf = ({ body, path }: Operation) => {
  if (/^\/(health|version|auth\/logout)/.test(path)) return 1;
  return body && !path.startsWith('/auth/') ? 8 : 4;
};
