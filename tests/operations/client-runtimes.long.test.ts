// Only with test:long: it downloads Deno and Bun; contract/client, client-feed and client-retries cover the client in Node.js.
import assert from 'node:assert/strict';
import fs from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { afterFile } from '../support/cleanup.ts';
import { installClient } from '../support/client-package.ts';
import { CHANGES, DEPTS } from '../support/expect.ts';
import { Receiver } from '../support/receiver.ts';
import { BUN, DENO, installRuntimes } from '../support/runtimes.ts';
import { FAST_WEBHOOK_POLLING, PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** The client as it is published, in Deno and in Bun: one program, over connections that fail. */

const runtimes = await installRuntimes();
const options = { skip: 'missing' in runtimes && runtimes.missing };
const { deno, bun } = 'missing' in runtimes ? { deno: '', bun: '' } : runtimes;
const { folder, installed, run, write } = await installClient();
const service = await startService({ BANYAN_WEBHOOK_NETWORKS: 'loopback' }, { timing: FAST_WEBHOOK_POLLING });

const STREAM = `GET ${CHANGES}/stream`;
/** An id that a number would round. */
const LARGE = '9007199254740993';

/** The program uses nothing but the client and what both runtimes have. `settings.json` is written for each of them. */
const PROGRAM = `
import { createClient, isApiError, verifyWebhook, WebhookVerificationError } from '@banyan/client';
import settings from './settings.json' with { type: 'json' };

const { baseUrl, tenantId, password, large, webhook } = settings;
const errorOf = (promise: Promise<unknown>): Promise<unknown> => promise.then(() => undefined, (error) => error);
const reasonOf = (error: unknown) => (isApiError(error) ? error.reason : String(error));

// A user logs in and creates the key that the program uses.
const user = createClient({ baseUrl });
const { data: login } = await user.logIn({ body: { tenantId, username: 'boss', password } });
const { data: created } = await user.addKey({
  body: { keyName: 'runtime', permissions: ['dept:read', 'dept:write', 'change:read', 'import', 'export'] },
});
const client = createClient({ baseUrl, key: String(created.key), language: 'en' });

// The response of this write is lost. The client sends it again with the same Idempotency-Key.
const body = { deptName: '总部', source: 'other', externalId: large };
const { id, headers } = await client.createDepartment({ body });
const { data: department } = await client.readDepartment({ id });

const names = ['甲', '乙', '丙', '丁', '戊'];
const departments = names.map((deptName, orderNum) => ({ ref: deptName, deptName, orderNum }));
await client.addDepartments({ body: { parentId: id, departments } });
const listed: string[] = [];
for await (const { deptName } of client.iterate.listDepartments({ pageSize: 2, parentId: id })) listed.push(deptName);

/** Reads this many changes of departments from the stream. */
async function take(after: string, count: number) {
  const taken: string[] = [];
  let isFirst = after === '0';
  for await (const { change, cursor } of client.streamChanges({ after })) {
    // The first connection is cut after this request.
    if (isFirst) await client.readVersion();
    isFirst = false;
    if (change.resource !== 'department' || !change.after) continue;
    taken.push(change.after.deptName);
    if (taken.length === count) return { taken, cursor };
    // The last change happens while the stream waits for it.
    if (change.after.deptName === '戊') await client.createDepartment({ body: { deptName: '己', parentId: id } });
  }
  throw new Error('The stream ended.');
}
// The first connection is cut in the middle of the second change, after the first one has been read.
const first = await take('0', 3);
const rest = await take(first.cursor, 4);

const controller = new AbortController();
async function readUntilAborted() {
  for await (const event of client.streamChanges({ signal: controller.signal }))
    setTimeout(() => controller.abort(new Error('enough at ' + typeof event.cursor)), 0);
}
const aborted = await errorOf(readUntilAborted());

const now = () => Number(webhook.headers['webhook-timestamp']) * 1000;
const { message } = await verifyWebhook(webhook.secret, new Headers(webhook.headers), webhook.body, { now });
const forged = await errorOf(verifyWebhook(webhook.secret, webhook.headers, webhook.body + ' ', { now }));

const { data: file } = await client.exportDepartments({ format: 'csv' });
const { data: preview } = await client.importDepartments({ mode: 'preview', body: { file: await file.blob() } });

// Two calls find the access token expired. It is refreshed once.
const tokens: string[] = [];
const session = createClient({
  baseUrl,
  tokens: { access_token: 'expired', refresh_token: String(login.refresh_token) },
  onTokens: (each) => tokens.push(each ? 'store' : 'remove'),
});
const users = await Promise.all([session.readMe(), session.readMe()]);
await session.logOut();

const missing = await errorOf(client.readDepartment({ id: large }));
console.log(
  JSON.stringify({
    replayed: headers.get('idempotent-replayed'),
    department: [department.deptName, department.externalId],
    listed,
    changes: [first.taken, rest.taken],
    aborted: String(aborted),
    webhook: [message.type, forged instanceof WebhookVerificationError],
    unchanged: preview.unchanged,
    users: users.map(({ data }) => data.user.userName),
    tokens,
    missing: [reasonOf(missing), (missing as Error).message],
    rounded: (await errorOf(client.readDepartment({ id: 2 ** 53 }))) instanceof TypeError,
    loggedOut: reasonOf(await errorOf(session.readMe())),
  }),
);
`;

const withRequire = (baseUrl: string) => `
const { createClient, isApiError } = require('@banyan/client');
createClient({ baseUrl: '${baseUrl}', key: 'wrong' }).readTree().catch((error) => console.log(isApiError(error) && error.reason));
`;

const EXPECTED = {
  replayed: 'true',
  department: ['总部', LARGE],
  listed: ['甲', '乙', '丙', '丁', '戊'],
  changes: [
    ['总部', '甲', '乙'],
    ['丙', '丁', '戊', '己'],
  ],
  aborted: 'Error: enough at string',
  webhook: ['department.created', true],
  unchanged: 7,
  users: ['boss', 'boss'],
  tokens: ['store', 'remove'],
  missing: ['DEPT_NOT_FOUND', 'The department does not exist or has been deleted. Check the id.'],
  rounded: true,
  loggedOut: 'NO_TOKEN',
};

/** Passes requests on to the service. Loses the response of the first new department, and cuts the first stream of changes. */
async function startUnreliableProxy() {
  const seen: { request: string; headers: http.IncomingHttpHeaders }[] = [];
  const countOf = (request: string) => seen.filter((each) => each.request === request).length;
  const hasRead = () => waitFor('the first change has been read', () => countOf('GET /version') > 0);
  const server = http.createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    const name = `${method} ${url}`;
    seen.push({ request: name, headers });
    const isFirst = countOf(name) === 1;
    const forwarded = http.request(new URL(url, service.base), { method, headers }, (result) => {
      // The service has executed the write by now.
      if (name === `POST ${DEPTS}` && isFirst) return result.resume().on('end', () => response.destroy());
      response.writeHead(result.statusCode ?? 502, result.headers);
      return name === STREAM && isFirst ? cut(result, response, hasRead) : result.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    response.on('close', () => forwarded.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  afterFile(() => {
    server.closeAllConnections();
    server.close();
  });
  const headersOf = (request: string, header: string) =>
    seen.filter((each) => each.request === request).map(({ headers }) => headers[header]);
  return { base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen, countOf, headersOf };
}

/** Passes on one whole event and, once it has been read, a part of the second one. Then it closes the connection. */
function cut(stream: http.IncomingMessage, response: http.ServerResponse, hasRead: () => Promise<unknown>): void {
  const EVENT = 'event: change';
  let text = '';
  // Read each byte as one character: the cut may be inside a Chinese character.
  stream.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
    const second = text.indexOf(EVENT, text.indexOf(EVENT) + 1);
    if (second < 0) return;
    stream.removeAllListeners('data').resume();
    response.write(Buffer.from(text.slice(0, second), 'latin1'));
    // A runtime may discard what it has received when the connection is closed.
    void hasRead().then(() =>
      response.write(Buffer.from(text.slice(second, second + 40), 'latin1'), () => response.destroy()),
    );
  });
}

/** A message of a webhook, with its secret. */
async function receiveWebhook() {
  const admin = await service.createTenant();
  const receiver = await Receiver.start();
  const { data } = await admin.post('/system/webhook-api', { url: receiver.url });
  await admin.createDepartment({ deptName: '研发部' });
  const { headers, body } = await waitFor('the message has arrived', () => receiver.all[0]);
  return { secret: data.secret, headers, body };
}

/** Runs the program and the one with `require`, and checks what they print and what they send. */
async function check(program: string, args: string[]) {
  const { tenantId } = await service.createTenant();
  const proxy = await startUnreliableProxy();
  const webhook = await receiveWebhook();
  write('settings.json', { baseUrl: proxy.base, tenantId, password: PASSWORD, large: LARGE, webhook });
  write('program.ts', PROGRAM);
  write('required.cjs', withRequire(proxy.base));
  const environment = { DENO_DIR: path.join(folder, 'deno'), DENO_NO_UPDATE_CHECK: '1', NO_COLOR: '1' };
  assert.deepEqual(JSON.parse(await run(program, [...args, 'program.ts'], environment)), EXPECTED);

  const [lost, repeated] = proxy.headersOf(`POST ${DEPTS}`, 'idempotency-key');
  assert.match(String(lost), /^[0-9a-f]{32}$/);
  assert.equal(repeated, lost);
  const [started, resumed] = proxy.headersOf(STREAM, 'last-event-id');
  assert.equal(started, '0');
  assert.match(String(resumed), /^[1-9]\d*$/);
  assert.equal(proxy.countOf(`GET ${DEPTS}/${LARGE}`), 1);
  assert.equal(proxy.countOf('POST /auth/refresh'), 1);

  assert.equal(await run(program, [...args, 'required.cjs'], environment), 'INVALID_TOKEN\n');
}

test('the README of the client names the tested versions of Deno and Bun', () => {
  const text = fs.readFileSync(path.join(installed, 'README.md'), 'utf8');
  assert.ok(text.includes(`| Deno ${DENO}, Bun ${BUN} |`));
});

test('the client runs in Deno, which checks its types and lets it use nothing but the network', options, async () => {
  assert.match(await run(deno, ['--version']), new RegExp(`^deno ${DENO.replaceAll('.', '\\.')} `));
  await check(deno, ['run', '--check', '--no-prompt', '--allow-net=127.0.0.1']);
});

test('the client runs in Bun', options, async () => {
  assert.equal(await run(bun, ['--version']), `${BUN}\n`);
  await check(bun, ['run', '--no-install']);
});
