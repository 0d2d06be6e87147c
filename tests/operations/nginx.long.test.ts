// Only with test:long: it runs a real nginx; deploy.test.ts compares its configuration with the settings of the service.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import path from 'node:path';
import { test } from 'node:test';
import { createCertificate } from '../support/certificate.ts';
import { afterFile } from '../support/cleanup.ts';
import { freePorts } from '../support/ports.ts';
import { newDataFolder, project } from '../support/process.ts';
import { PASSWORD, startService } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/** deploy/nginx/banyan.conf in a real nginx, in front of a real service. It is skipped where nginx is missing. */

const isInstalled = spawnSync('nginx', ['-v']).error === undefined;
const HOST = 'org.example.com';
/** The address of the client. nginx itself connects to the service from 127.0.0.1. */
const CLIENT = '127.0.0.2';

/** Writes the sample as a whole configuration, with other ports, paths and nodes. Returns its folder. */
function configure(ports: { plain: number; tls: number }, nodes: string[]): string {
  const folder = path.dirname(newDataFolder());
  fs.chmodSync(folder, 0o755);
  const { cert, key } = createCertificate(HOST);
  fs.writeFileSync(path.join(folder, 'certificate.pem'), cert);
  fs.writeFileSync(path.join(folder, 'key.pem'), key);
  const upstream = fs.readFileSync(path.join(project, 'deploy/nginx/upstream.conf'), 'utf8');
  const node = /^server 127\.0\.0\.1:8080 (.*)$/m.exec(upstream)?.[1];
  assert.ok(node, 'the sample has one node');
  fs.writeFileSync(path.join(folder, 'upstream.conf'), nodes.map((each) => `server ${each} ${node}\n`).join(''));
  const replaced = fs
    .readFileSync(path.join(project, 'deploy/nginx/banyan.conf'), 'utf8')
    .replaceAll(/listen \[::\].*\n/g, '\n')
    .replace('listen 80;', `listen 127.0.0.1:${ports.plain};`)
    .replace('listen 443 ', `listen 127.0.0.1:${ports.tls} `)
    .replace('/etc/nginx/banyan-upstream.conf', `${folder}/upstream.conf`)
    .replaceAll('/etc/nginx/tls/', `${folder}/`);
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${folder}/${name};`,
  );
  fs.writeFileSync(
    path.join(folder, 'nginx.conf'),
    `daemon off; pid ${folder}/nginx.pid; error_log stderr info; worker_processes 1;
    events {} http { access_log off; ${temporary.join(' ')} ${replaced} }`,
  );
  return folder;
}

async function startNginx(nodes: string[]) {
  const [plain, tls] = (await freePorts(2)) as [number, number];
  const ports = { plain, tls };
  const folder = configure(ports, nodes);
  const args = ['-p', folder, '-c', path.join(folder, 'nginx.conf')];
  const check = spawnSync('nginx', ['-t', ...args], { encoding: 'utf8' });
  assert.equal(check.status, 0, check.stderr);
  const child = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'pipe'] });
  let log = '';
  child.stderr?.on('data', (chunk) => (log += chunk));
  afterFile(async () => {
    if (child.exitCode !== null) return;
    child.kill('SIGTERM');
    await once(child, 'exit');
  });
  await waitFor('nginx listens', () => {
    assert.equal(child.exitCode, null, log);
    return new Promise<boolean>((resolve) => {
      const socket = net.connect(ports.tls, '127.0.0.1', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  });
  return { ...ports, ca: fs.readFileSync(path.join(folder, 'certificate.pem'), 'utf8') };
}

type Nginx = Awaited<ReturnType<typeof startNginx>>;

/** Sends a request through nginx and resolves with its response, whose body has not been read. */
function send(nginx: Nginx, method: string, route: string, headers: Record<string, string> = {}, body?: unknown) {
  const payload = body === undefined ? undefined : JSON.stringify(body);
  const all = { host: HOST, ...(payload ? { 'content-type': 'application/json' } : {}), ...headers };
  const options = {
    port: nginx.tls,
    host: '127.0.0.1',
    localAddress: CLIENT,
    servername: HOST,
    ca: nginx.ca,
    method,
    path: route,
    headers: all,
  };
  return new Promise<http.IncomingMessage>((resolve, reject) => {
    https
      .request({ ...options, agent: false }, resolve)
      .on('error', reject)
      .end(payload);
  });
}

async function bodyOf(response: http.IncomingMessage) {
  let text = '';
  for await (const chunk of response) text += chunk;
  return { status: response.statusCode, headers: response.headers, text, json: () => JSON.parse(text) };
}

test('nginx forwards requests with the address of the client, and event streams without buffering', {
  skip: !isInstalled && 'nginx is not installed',
}, async () => {
  const service = await startService({ BANYAN_TRUST_PROXY: '127.0.0.1', BANYAN_ISSUER: `https://${HOST}` });
  const tenant = await service.createTenant();
  const { port } = new URL(service.base);
  // The first node is down: its requests go to the other one.
  const nginx = await startNginx(['127.0.0.1:1', `127.0.0.1:${port}`]);

  const plain = await new Promise<http.IncomingMessage>((resolve) =>
    http.get({ port: nginx.plain, host: '127.0.0.1', path: '/docs?a=1', headers: { host: HOST } }, resolve),
  );
  assert.deepEqual([plain.statusCode, plain.headers.location], [308, `https://${HOST}/docs?a=1`]);
  plain.resume();

  for (let n = 0; n < 4; n++) {
    const ready = await bodyOf(await send(nginx, 'GET', '/health/ready'));
    assert.equal(ready.status, 200, 'although one of the nodes is down');
    assert.match(String(ready.headers['strict-transport-security']), /max-age/);
  }

  // A client cannot choose the address that the service sees, and the cookie is one for https.
  const login = await bodyOf(
    await send(
      nginx,
      'POST',
      '/auth/login?session=cookie',
      { 'x-forwarded-for': '203.0.113.9', origin: `https://${HOST}` },
      { tenantId: tenant.tenantId, username: 'boss', password: PASSWORD },
    ),
  );
  assert.equal(login.status, 200, login.text);
  assert.match(String(login.headers['set-cookie']), /^__Host-.*; Secure/i);
  const authorization = `Bearer ${login.json().data.access_token}`;
  const sessions = await bodyOf(await send(nginx, 'GET', '/auth/sessions', { authorization }));
  const session = (sessions.json().data.rows as { address: string; current: boolean }[]).find(({ current }) => current);
  assert.equal(session?.address, CLIENT, sessions.text);

  // An event arrives while the stream is open: nginx does not wait for more.
  const stream = await send(nginx, 'GET', '/system/change-api/stream', { authorization, accept: 'text/event-stream' });
  assert.equal(stream.statusCode, 200);
  let events = '';
  stream.on('data', (chunk) => (events += chunk));
  await tenant.createDepartment({ deptName: '流' });
  await waitFor('the stream has the change', () => events.includes('"流"'));
  stream.destroy();

  // A long poll waits until there is a change.
  const { data: feed } = await tenant.get('/system/change-api');
  const poll = send(nginx, 'GET', `/system/change-api?after=${feed.next}&wait=30`, { authorization });
  await tenant.createDepartment({ deptName: '长轮询' });
  assert.match((await bodyOf(await poll)).text, /长轮询/);

  // An export is a file of unknown length.
  const file = await bodyOf(await send(nginx, 'GET', '/system/dept-api/export?format=csv', { authorization }));
  assert.equal(file.status, 200);
  assert.match(file.text, /长轮询/);
});
