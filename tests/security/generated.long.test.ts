// Only with test:long: 30,000 random requests take more than a minute; contract/openapi-responses and contract/bad-input-* send chosen ones to each operation.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { assertDocumented, type Operation, readOperations } from '../support/openapi.ts';
import { firstSeed, report, runConcurrently, seededRandom, Tally } from '../support/scale.ts';
import { type ApiResponse, Client, PASSWORD, startService } from '../support/service.ts';
import { type Generated, type Ids, requestOf } from './arbitrary.ts';

/**
 * Sends random requests, generated from the OpenAPI document, to every operation with our envelope. Every response must be
 * documented, and none may be an internal error.
 */

// On a slow machine the test takes longer than the default lifetime of a token.
const service = await startService({ BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
// An event stream does not end; tests/contract/changes-stream.test.ts covers it.
const operations = (await readOperations(service)).filter(({ operationId }) => operationId !== 'streamChanges');
const WORKERS = 6;

interface Fixture {
  admin: Client;
  member: Client;
  anonymous: Client;
  ids: Ids;
}

/** Creates a tenant for one batch, because random requests disable and delete what they find. */
async function createFixture(): Promise<Fixture> {
  const admin = await service.createTenant({ quotaBo: { merchant: 2_000_000_000, riskReport: 2_000_000_000 } });
  const child = await service.createTenant({}, admin);
  const time = [new Date().toISOString()];
  const top = await admin.createDepartment({ deptName: 'top', source: 'hr', externalId: '1' });
  const depts = [top, await admin.createDepartment({ parentId: top }), await admin.createDepartment()];
  const users = [
    await admin.createUser({ userName: 'anna', deptId: top, source: 'hr', externalId: '1' }),
    await admin.createUser({ userName: 'otto' }),
  ];
  const member = await service.createMember(admin, { userName: memberName });
  const key = await admin.create('/system/key-api', { keyName: 'key', permissions: ['dept:read'] });
  const session = String(decodeJwt(String((await service.logIn(admin.tenantId, 'boss')).token)).sid);
  const ids = {
    dept: depts,
    user: [...users, member.id],
    tenant: [child.id, admin.id],
    code: [child.tenantId, admin.tenantId],
    key: [key],
    session: [session],
    source: ['hr'],
    externalId: ['1'],
    time: [...time, new Date().toISOString()],
  };
  return { admin, member, anonymous: service.anonymous, ids };
}

const send = (fixture: Fixture, { operation, path, headers, raw, caller }: Generated): Promise<ApiResponse> =>
  fixture[caller].call(operation.method, path, undefined, {
    headers,
    ...(raw === undefined ? {} : { raw }),
    // Failed logins lock an address, so do not use the one that the fixtures log in from.
    from: '127.0.0.9',
  });

test('random requests to every operation with our envelope get documented responses and cause no internal error', async (t) => {
  const least = 30_000;
  let count = 0;
  const [statuses, succeeded] = [new Tally(), new Tally()];
  for (let batch = 0; count < least; batch++) {
    const fixture = await createFixture();
    const seed = firstSeed * 1_000_003 + batch;
    const { below } = seededRandom(seed);
    // Every operation gets its share of requests, in random order.
    const requests = operations
      .flatMap((operation) => fc.sample(requestOf(operation, fixture.ids), { seed, numRuns: weightOf(operation) }))
      .map((generated) => ({ generated, position: below(1_000_000) }))
      .sort((a, b) => a.position - b.position)
      .map(({ generated }) => generated);
    count += requests.length;
    await runConcurrently(WORKERS, requests.length, async (n) => {
      const generated = requests[n] as Generated;
      const { operation, ...sent } = generated;
      const description = `seed ${seed}, request ${n}: ${operation.operationId} ${JSON.stringify(sent).slice(0, 3_000)}`;
      const caller = fixture[generated.caller];
      const response = await send(fixture, generated).catch((error) => assert.fail(`${description}: ${error}`));
      statuses.add(response.status);
      const isFile = response.status === 200 && response.headers['content-disposition'] !== undefined;
      if (response.code === 200 || isFile) succeeded.add(operation.operationId);
      if (response.data?.reason === 'SESSION_ENDED' && caller === fixture[generated.caller]) {
        fixture[generated.caller] = await logInAgain(caller, generated.caller);
      }
      assert.ok(response.status < 500, `${description}: ${response.text}`);
      assertDocumented(operation, response);
      assert.ok(response.text.length < 2_000_000, description);
    });
  }
  report(t, { seed: firstSeed, requests: count, ...statuses.counts, succeeded: succeeded.counts });
  assert.equal((await service.anonymous.get('/health/ready')).code, 200, 'the service is still ready');
  const never = operations
    .filter(({ operationId }) => !succeeded.get(operationId))
    .map(({ operationId }) => operationId);
  // Random requests do not guess passwords, refresh tokens, valid webhook URLs or files, nor the ids of uses and reservations,
  // and restoring or reverting needs a matching record.
  const unlikely = /^(changePassword|logIn|refresh)$|Webhook|Deliver|^import|^restore|^revert|Reservation$|^refund/;
  assert.deepEqual(
    never.filter((name) => !unlikely.test(name)),
    [],
  );
});

/**
 * Logs in a caller that a random request has logged out. A caller that was disabled or has another password stays logged
 * out until the next fixture. Addresses vary, because failures would lock the one that the fixtures log in from.
 */
async function logInAgain(caller: Client, name: Generated['caller']): Promise<Client> {
  const login = { tenantId: caller.tenantId, username: name === 'admin' ? 'boss' : memberName, password: PASSWORD };
  const from = `127.2.${(logins >> 7) & 255}.${1 + (logins++ & 127)}`;
  const { data } = await service.anonymous.post('/auth/login', login, { from });
  return data?.access_token ? new Client(service.base, data.access_token, '', caller.tenantId) : caller;
}
let logins = 0;
const memberName = 'member1';

/** Returns the number of requests: more for operations with a body, fewer for those without input or that end a session. */
const weightOf = ({ body, path }: Operation) => {
  if (/^\/(health|version|auth\/logout)/.test(path)) return 1;
  return body && !path.startsWith('/auth/') ? 12 : 6;
};
