import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { parse, parseAllDocuments } from 'yaml';
import { settings } from '../../server/config.ts';
import { isInNetworks, isNetwork } from '../../server/http/address.ts';
import { MAX_FILE } from '../../server/imports/upload.ts';
import { defaultTiming } from '../../server/timing.ts';
import { readDockerfile } from '../support/dockerfile.ts';
import { newDataFolder, project } from '../support/process.ts';
import { shareService } from '../support/service.ts';

/** The files of deploy/: what they say about each other and about the service. */

const read = (name: string) => fs.readFileSync(path.join(project, 'deploy', name), 'utf8');
const lastStage = readDockerfile().stages.at(-1)?.instructions ?? [];
const metadata = Object.fromEntries(lastStage.map(({ name, text }) => [name, text]));
const PORT = Number(metadata.EXPOSE);

/** Settings that are not Banyan's own. */
const OTHERS = ['NODE_ENV', 'TMPDIR', 'POSTGRES_USER', 'POSTGRES_PASSWORD', 'POSTGRES_DB'];

function assertSettings(names: Iterable<string>) {
  for (const name of names) assert.ok(Object.hasOwn(settings, name) || OTHERS.includes(name), `${name} is a setting`);
}

/** Returns whether a program is installed. If it is not, the test is skipped, and the summary of the run lists it. */
function requireProgram(t: TestContext, name: string, ...args: string[]): boolean {
  const exists = spawnSync(name, args, { encoding: 'utf8' }).error === undefined;
  if (!exists) t.skip(`${name} is not installed`);
  return exists;
}

test('the Dockerfile sets only known variables, and PORT is the port that it exposes', () => {
  const names = [...String(metadata.ENV).matchAll(/(\w+)=/g)].map(([, name]) => String(name));
  assertSettings(names);
  assert.match(String(metadata.ENV), new RegExp(`PORT=${PORT} `));
});

test('the compose file has two nodes behind nginx that trust its network, and no password', () => {
  const { services, networks } = parse(read('compose/compose.yaml'), { merge: true });
  assert.deepEqual(Object.keys(services).sort(), ['database', 'nginx', 'service-1', 'service-2']);
  for (const name of ['service-1', 'service-2']) {
    const service = services[name];
    assertSettings(Object.keys(service.environment));
    assert.deepEqual([service.read_only, service.tmpfs, service.cap_drop], [true, ['/tmp'], ['ALL']]);
    assert.ok(fs.existsSync(path.join(project, 'deploy/compose', service.build.context, service.build.dockerfile)));
    assert.equal(service.environment.BANYAN_TRUST_PROXY, networks.inside.ipam.config[0].subnet);
    assert.ok(isNetwork(service.environment.BANYAN_TRUST_PROXY));
    assert.match(
      service.environment.DATABASE_URL,
      /^postgres:\/\/banyan:\$\{POSTGRES_PASSWORD:\?[^}]+\}@database:5432\/banyan$/,
    );
    assert.ok(Number.parseInt(service.stop_grace_period, 10) * 1_000 > defaultTiming.shutdownMs);
    assert.match(read('compose/upstream.conf'), new RegExp(`^server ${name}:${PORT} `, 'm'));
    // nginx looks up the addresses of the nodes only once, so a node that is created again must keep its own.
    const { subnet, ip_range: others, gateway } = networks.inside.ipam.config[0];
    const address = service.networks.inside.ipv4_address;
    assert.ok(isInNetworks(address, [subnet]) && !isInNetworks(address, [others]) && address !== gateway, address);
  }
  for (const volume of services.nginx.volumes as string[]) {
    const [from = ''] = volume.split(':');
    // The certificate is the operator's.
    if (from !== './tls') assert.ok(fs.existsSync(path.join(project, 'deploy/compose', from)), from);
  }
});

test('the Kubernetes manifests refer to each other, and their probes to routes of the service', async () => {
  const documents = parseAllDocuments(read('kubernetes/banyan.yaml'));
  for (const { errors, warnings } of documents) assert.deepEqual([...errors, ...warnings], []);
  // biome-ignore lint/suspicious/noExplicitAny: manifests have many shapes
  const byKind = Object.fromEntries(documents.map((each) => each.toJS() as any).map((each) => [each.kind, each]));
  const kinds = ['ConfigMap', 'Deployment', 'Ingress', 'PodDisruptionBudget', 'Service'];
  assert.deepEqual(Object.keys(byKind).sort(), kinds);
  const { replicas, selector, template } = byKind.Deployment.spec;
  const { containers, securityContext, terminationGracePeriodSeconds, volumes } = template.spec;
  const [container] = containers;
  assert.equal(replicas, 2);
  assert.ok(byKind.PodDisruptionBudget.spec.minAvailable < replicas);
  for (const labels of [
    selector.matchLabels,
    byKind.Service.spec.selector,
    byKind.PodDisruptionBudget.spec.selector.matchLabels,
  ])
    assert.deepEqual(labels, template.metadata.labels);
  assert.deepEqual(container.ports, [{ name: 'http', containerPort: PORT }]);
  assert.equal(byKind.Service.spec.ports[0].targetPort, 'http');
  assert.equal(byKind.Ingress.spec.rules[0].http.paths[0].backend.service.name, byKind.Service.metadata.name);

  const service = await shareService();
  for (const probe of ['startupProbe', 'livenessProbe', 'readinessProbe']) {
    const { path: route, port } = container[probe].httpGet;
    assert.equal(port, 'http');
    assert.equal((await service.anonymous.get(route)).status, 200, `${probe} ${route}`);
  }

  const user = `${securityContext.runAsUser}:${securityContext.runAsGroup}`;
  assert.deepEqual([securityContext.runAsNonRoot, user], [true, metadata.USER]);
  assert.deepEqual(container.securityContext, {
    ...{ allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
  });
  const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
  assert.deepEqual(
    mounted,
    volumes.map(({ name }: { name: string }) => name),
  );
  const waitSeconds = Number(container.lifecycle.preStop.exec.command[1]);
  assert.ok(terminationGracePeriodSeconds * 1_000 > waitSeconds * 1_000 + defaultTiming.shutdownMs);
  assertSettings(Object.keys(byKind.ConfigMap.data));
  assertSettings(container.env.map(({ name }: { name: string }) => name));
  for (const { valueFrom } of container.env) assert.ok(valueFrom.secretKeyRef.name, 'secrets are in a Secret');
});

test('proxies wait as long as the service may take, and longer than event streams are silent', () => {
  const seconds = [
    /proxy_read_timeout (\d+)s/.exec(read('nginx/banyan.conf')),
    /response_header_timeout (\d+)s/.exec(read('caddy/Caddyfile')),
    /proxy-read-timeout: "(\d+)"/.exec(read('kubernetes/banyan.yaml')),
  ].map((match) => Number(match?.[1]));
  const needed = Math.max(
    defaultTiming.importResponseMs,
    defaultTiming.bulkResponseMs,
    defaultTiming.streamHeartbeatMs,
  );
  for (const each of seconds) assert.ok(each * 1_000 > needed, `${each} seconds`);
});

test('proxies that buffer request bodies limit their size, to more than the service accepts', () => {
  const limits = [
    /client_max_body_size (\d+)m;/.exec(read('nginx/banyan.conf')),
    /proxy-body-size: "(\d+)m"/.exec(read('kubernetes/banyan.yaml')),
  ].map((match) => Number(match?.[1]) * 2 ** 20);
  for (const limit of limits) assert.ok(limit > MAX_FILE && limit < 2 * MAX_FILE, `${limit} bytes`);
});

test('the systemd unit starts the program of the package, with an exposure below 2.0', (t) => {
  const unit = read('systemd/banyan.service');
  const { bin } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
  assert.ok(unit.includes(`/node_modules/banyan/${bin.banyan} start\n`));
  const environment = /^Environment=(.*)$/m.exec(unit)?.[1] ?? '';
  assertSettings([...environment.matchAll(/(\w+)=/g)].map(([, name]) => String(name)));
  // The operator's commands look for the embedded PostgreSQL's socket there. They cannot see the unit's /tmp (PrivateTmp).
  const [, runtimeFolder] = /^RuntimeDirectory=(\w+)$/m.exec(unit) ?? [];
  assert.ok(environment.split(' ').includes(`TMPDIR=/run/${runtimeFolder}`), environment);
  assert.match(unit, /^RuntimeDirectoryMode=0700$/m);
  const flag = JSON.parse(String(metadata.CMD))[1];
  assert.ok(unit.includes(` ${flag} `), 'the flag of the image');
  if (!requireProgram(t, 'systemd-analyze', '--version')) return;
  const file = path.join(project, 'deploy/systemd/banyan.service');
  const { stdout } = spawnSync('systemd-analyze', ['security', '--offline=true', '--no-pager', file], {
    encoding: 'utf8',
  });
  const [, level] = /Overall exposure level for \S+: (\d+\.\d)/.exec(stdout) ?? [];
  assert.ok(Number(level) < 2, stdout);
});

test('Caddy accepts its configuration', (t) => {
  if (!requireProgram(t, 'caddy', 'version')) return;
  const folder = path.dirname(newDataFolder());
  const env = { PATH: process.env.PATH, HOME: folder, XDG_DATA_HOME: folder };
  const file = path.join(project, 'deploy/caddy/Caddyfile');
  const args = ['validate', '--config', file, '--adapter', 'caddyfile'];
  const { status, stderr } = spawnSync('caddy', args, { env, cwd: folder, encoding: 'utf8' });
  assert.equal(status, 0, stderr);
});
