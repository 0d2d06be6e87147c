import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { StartupError } from '../../db/startup-error.ts';
import { type Config, type Environment, readConfig, settings } from '../../server/config.ts';

type Setting = keyof typeof settings;

interface Expectation {
  /** The property of the config and its default. */
  unset: [name: keyof Config, value: unknown];
  valid: [text: string, value: unknown][];
  invalid: string[];
}

/** One entry for each setting: the type makes the compiler report missing ones. */
const expected: Record<Setting, Expectation> = {
  PORT: {
    unset: ['port', 8080],
    valid: [
      ['0', 0],
      ['80', 80],
      ['65535', 65535],
      [' 9000 ', 9000],
    ],
    invalid: ['-1', '65536', '80.5', 'http', '0x50', '1e3', '8080;', '8 0', '１'],
  },
  HOST: {
    unset: ['host', '127.0.0.1'],
    valid: [
      ['0.0.0.0', '0.0.0.0'],
      ['::', '::'],
      ['banyan.internal', 'banyan.internal'],
    ],
    invalid: ['http://localhost', 'a b', 'localhost:8080', '10.0.0.1/8'],
  },
  BANYAN_ISSUER: {
    unset: ['issuer', ''],
    valid: [
      ['https://org.example.com', 'https://org.example.com'],
      ['http://10.0.0.7:8080', 'http://10.0.0.7:8080'],
      ['https://example.com/banyan', 'https://example.com/banyan'],
    ],
    invalid: [
      'org.example.com',
      'ftp://org.example.com',
      'https://org.example.com/',
      'https://Org.example.com',
      'https://org.example.com:443',
      'https://org.example.com?a',
      'https://org.example.com#a',
      'https://me@org.example.com',
    ],
  },
  BANYAN_WORKERS: {
    unset: ['workers', 1],
    valid: [
      ['2', 2],
      ['8', 8],
    ],
    invalid: ['0', '9', '1.5', 'two', '-1'],
  },
  DATABASE_URL: {
    unset: ['databaseUrl', ''],
    valid: [
      'postgres://u:secret-word@h:5432/d',
      'postgresql://h/d',
      'postgres://u:secret-word@localhost/d?host=%2Frun%2Fpostgresql',
      'postgres://u@%2Frun%2Fpostgresql/d',
      'postgres://u:secret-word@h1:5432,h2:5433/d?target_session_attrs=read-write',
      'postgres://u:secret-word@h1,[::1]:5433,10.0.0.1/d?sslmode=require',
      'postgres://u:secret-word@h/d?target_session_attrs=primary',
    ].map((url) => [url, url]),
    invalid: [
      'secret-word',
      'mysql://u:secret-word@h/d',
      'postgres://',
      'postgres:/u:secret-word@h/d',
      'http://u:secret-word@h/d',
      // Characters that must be percent-encoded in a URL.
      'postgres://u:secret-word#1@h/d',
      'postgres://u:secret-word%@h/d',
      'postgres://u:secret-word@h:port/d',
      'postgres://u:secret-word@h1,/d',
      'postgres://u:secret-word@h1:port,h2/d',
      'postgres://u:secret-word@h1,h2/d?host=%2Frun%2Fpostgresql',
      'postgres://u:secret-word@h/d?host=h1,h2',
      // Reading from replicas is not offered.
      'postgres://u:secret-word@h1,h2/d?target_session_attrs=standby',
      'postgres://u:secret-word@h1,h2/d?target_session_attrs=prefer-standby',
    ],
  },
  BANYAN_DATA_DIR: {
    unset: ['dataDir', path.resolve('data')],
    valid: [
      ['/var/lib/banyan', '/var/lib/banyan'],
      ['there/../here', path.resolve('here')],
    ],
    invalid: [],
  },
  BANYAN_WAL_ARCHIVE: {
    unset: ['walArchive', ''],
    valid: [['/srv/wal', '/srv/wal']],
    invalid: ['./data', 'data/wal', './data/../data/postgres'],
  },
  BANYAN_BACKUP_FOLDER: {
    unset: ['backupFolder', ''],
    valid: [
      ['/srv/backups', '/srv/backups'],
      ['./data.backups', path.resolve('data.backups')],
    ],
    invalid: ['./data', 'data/backups'],
  },
  BANYAN_BACKUP_EVERY_HOURS: {
    unset: ['backupEveryHours', 24],
    valid: [
      ['1', 1],
      ['720', 720],
    ],
    invalid: ['0', '721', '1.5', 'daily'],
  },
  BANYAN_BACKUP_KEEP: {
    unset: ['backupKeep', 7],
    valid: [
      ['1', 1],
      ['1000', 1_000],
    ],
    invalid: ['0', '1001', '-1', 'all'],
  },
  BANYAN_ADMIN_USERNAME: {
    unset: ['adminUsername', 'admin'],
    valid: [
      ['张三', '张三'],
      ['🌳'.repeat(50), '🌳'.repeat(50)],
    ],
    invalid: ['a'.repeat(51)],
  },
  BANYAN_ADMIN_PASSWORD: {
    unset: ['adminPassword', ''],
    valid: [
      ['12345678', '12345678'],
      // A password is not trimmed.
      [' 12345678 ', ' 12345678 '],
      ['🌳'.repeat(128), '🌳'.repeat(128)],
    ],
    invalid: ['secret-', 'secret-word'.repeat(12), '🌳'.repeat(7)],
  },
  BANYAN_TIME_ZONE: {
    unset: ['timeZone', 'Asia/Shanghai'],
    valid: [
      ['UTC', 'UTC'],
      ['Europe/Berlin', 'Europe/Berlin'],
    ],
    invalid: ['Mars/Olympus', '+08:00', 'GMT+25', "UTC'; drop table users", '8'],
  },
  BANYAN_ERROR_STATUS: {
    unset: ['errorStatus', 'http'],
    valid: [
      ['200', '200'],
      ['http', 'http'],
    ],
    invalid: ['HTTP', '201', 'yes', 'true'],
  },
  BANYAN_RUOYI_API: {
    unset: ['ruoyiApi', false],
    valid: [
      ['0', false],
      ['1', true],
    ],
    invalid: ['true', 'yes', '2'],
  },
  BANYAN_RUOYI_TENANTS: {
    unset: ['ruoyiTenants', [{ tenantId: '000000', companyName: '000000' }]],
    valid: [
      ['123456', [{ tenantId: '123456', companyName: '123456' }]],
      [
        '000000=总部, 123456 = a=b',
        [
          { tenantId: '000000', companyName: '总部' },
          { tenantId: '123456', companyName: 'a=b' },
        ],
      ],
    ],
    invalid: ['12345', '总部', '000000,', '000000;123456'],
  },
  BANYAN_ACCESS_TOKEN_SECONDS: {
    unset: ['accessTokenSeconds', 1800],
    valid: [
      ['1', 1],
      ['86400', 86400],
    ],
    invalid: ['0', '-1', '86401', '30m', '1.5', 'Infinity'],
  },
  BANYAN_REFRESH_TOKEN_SECONDS: {
    unset: ['refreshTokenSeconds', 604800],
    valid: [
      ['1', 1],
      ['31536000', 31536000],
    ],
    invalid: ['0', '31536001', '7d', '1e3'],
  },
  BANYAN_SESSION_DAYS: {
    unset: ['sessionSeconds', 2_592_000],
    valid: [
      ['1', 86_400],
      ['3650', 315_360_000],
    ],
    invalid: ['0', '3651', 'never', '1.5'],
  },
  BANYAN_SESSIONS_PER_USER: {
    unset: ['maxSessions', 20],
    valid: [
      ['1', 1],
      ['1000', 1000],
    ],
    invalid: ['0', '1001', 'all'],
  },
  BANYAN_TRUST_PROXY: {
    unset: ['trustProxy', ''],
    valid: ['10.0.0.1', '10.0.0.0/8', '10.0.0.1, fd00::/8', 'loopback'].map((text) => [text, text]),
    invalid: ['nginx', '10.0.0.1;10.0.0.2', '10.0.0.0/99', 'true', '*', '10.0.0.1,,10.0.0.2'],
  },
  BANYAN_CORS_ORIGINS: {
    unset: ['corsOrigins', []],
    valid: [
      ['https://app.example.com', ['https://app.example.com']],
      ['http://localhost:5173, https://a.example', ['http://localhost:5173', 'https://a.example']],
    ],
    invalid: ['*', 'app.example.com', 'https://app.example.com/', 'https://a.example:443', 'null', 'file:///a', 'a b'],
  },
  BANYAN_LEDGER_DAYS: {
    unset: ['ledgerDays', 'keep'],
    valid: [
      ['keep', 'keep'],
      ['365', '365'],
    ],
    invalid: ['0', '-1', '1.5', '36501', 'ever'],
  },
  BANYAN_WEBHOOK_NETWORKS: {
    unset: ['webhookNetworks', []],
    valid: [
      ['loopback', ['loopback']],
      ['10.1.0.0/16, fd00::/8,192.168.1.7', ['10.1.0.0/16', 'fd00::/8', '192.168.1.7']],
    ],
    invalid: ['inner', '10.0.0.0/33', '10.0.0', 'uniquelocal', 'fd00::/129'],
  },
  BANYAN_TENANT_REQUESTS_PER_SECOND: {
    unset: ['tenantRequestsPerSecond', null],
    valid: [
      ['off', null],
      ['1', 1],
      ['1000000', 1_000_000],
    ],
    invalid: ['0', '-1', '1.5', '1000001', 'on'],
  },
  BANYAN_DEPARTMENT_LEVELS: {
    unset: ['departmentLevels', 1_000],
    valid: [
      ['1', 1],
      ['20000', 20_000],
    ],
    invalid: ['0', '20001', '1e3', 'unlimited'],
  },
  BANYAN_TENANT_LEVELS: {
    unset: ['tenantLevels', 32],
    valid: [
      ['2', 2],
      ['100', 100],
    ],
    invalid: ['1', '101', '-1', 'unlimited'],
  },
  BANYAN_MENU_NAMES: {
    unset: ['menuNames', {}],
    valid: [['tests/fixtures/menu-names.json', { 100: '系统管理', 101: '用户管理' }]],
    invalid: ['nowhere.json', 'package.json', 'README.md', 'tests'],
  },
  BANYAN_METRICS: {
    unset: ['metrics', false],
    valid: [
      ['0', false],
      ['1', true],
    ],
    invalid: ['yes', '2', 'true'],
  },
  BANYAN_METRICS_PORT: {
    unset: ['metricsPort', null],
    valid: [
      ['0', 0],
      ['9464', 9464],
      ['65535', 65_535],
    ],
    invalid: ['-1', '65536', '8080', 'on', '1e3'],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    unset: ['otlpEndpoint', ''],
    valid: ['http://localhost:4318', 'https://otel.example.com/banyan'].map((text) => [text, text]),
    invalid: ['localhost:4318', 'grpc://localhost:4317', 'http://'],
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    unset: ['otlpTracesEndpoint', ''],
    valid: [['http://localhost:4318/v1/traces', 'http://localhost:4318/v1/traces']],
    invalid: ['/v1/traces', 'http://'],
  },
  OTEL_TRACES_EXPORTER: {
    unset: ['otelTracesExporter', 'otlp'],
    valid: ['otlp', 'none'].map((text) => [text, text]),
    invalid: ['zipkin', 'console'],
  },
  OTEL_SDK_DISABLED: {
    unset: ['otelDisabled', false],
    valid: [
      ['true', true],
      ['TRUE', true],
      ['false', false],
    ],
    invalid: ['1', 'yes'],
  },
  BANYAN_LOG_LEVEL: {
    unset: ['logLevel', 'info'],
    valid: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((text) => [text, text]),
    invalid: ['INFO', 'verbose', '30'],
  },
};
const names = Object.keys(expected) as Setting[];

/** Returns the message with which an environment is rejected. */
function errorOf(environment: Environment): string {
  try {
    readConfig(environment);
  } catch (error) {
    assert.ok(error instanceof StartupError, String(error));
    return error.message;
  }
  return assert.fail(`accepted: ${JSON.stringify(environment)}`);
}

for (const name of names) {
  const { unset, valid, invalid } = expected[name];
  const [key, defaultValue] = unset;

  test(`${name} has its default when it is unset or blank`, () => {
    for (const environment of [{}, { [name]: '' }, { [name]: '  ' }, { [name]: undefined }]) {
      assert.deepEqual(readConfig(environment)[key], defaultValue);
    }
    assert.ok(settings[name].meaning.length > 10);
  });

  test(`${name} accepts valid values`, () => {
    for (const [text, value] of valid) assert.deepEqual(readConfig({ [name]: text })[key], value, text);
  });

  test(`${name} rejects invalid values with a message that names it`, () => {
    for (const text of invalid) {
      const message = errorOf({ [name]: text });
      assert.match(message, new RegExp(`^Invalid settings:\\n  ${name}\\b.*must `), text);
      if (/PASSWORD|URL/.test(name)) assert.ok(!/secret-|🌳/.test(message), `the message repeats a secret: ${message}`);
      else assert.ok(message.includes(`"${text}"`), message);
    }
  });
}

test('only the listed settings are read', () => {
  assert.deepEqual(Object.keys(readConfig({})).length, names.length);
  assert.deepEqual(readConfig({ NODE_ENV: 'production', BANYAN_PORT: '1', port: '2' }), readConfig({}));
});

test('folders for backups and archives are rejected with DATABASE_URL, because they are for the embedded database', () => {
  for (const name of ['BANYAN_WAL_ARCHIVE', 'BANYAN_BACKUP_FOLDER']) {
    const message = errorOf({ DATABASE_URL: 'postgres://me@host/db', [name]: '/srv/folder' });
    assert.match(message, new RegExp(`${name} "/srv/folder": must be unset with DATABASE_URL`));
  }
});

test('the config is frozen', () => {
  assert.ok(Object.isFrozen(readConfig({})));
});

test('one message lists all invalid settings', () => {
  const invalid = names.filter((name) => expected[name].invalid.length > 0);
  const message = errorOf(Object.fromEntries(invalid.map((name) => [name, expected[name].invalid[0]])));
  const lines = message.split('\n').slice(1);
  assert.deepEqual(lines.map((line) => line.trim().split(/[ :]/)[0]).sort(), [...invalid].sort());
});

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-config-'));
after(() => fs.rmSync(folder, { recursive: true }));
const root = new URL('../../../', import.meta.url);

/** Reads the config in a separate process whose folder contains this .env file. */
function readInProcess(env: Record<string, string>, dotEnv: string) {
  fs.writeFileSync(path.join(folder, '.env'), dotEnv);
  const code = `
    const { readConfig, readEnvironment } = await import('${new URL('dist/server/config.js', root)}');
    console.log(JSON.stringify(readConfig(readEnvironment())));`;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', code], {
    cwd: folder,
    env,
    encoding: 'utf8',
  });
  return JSON.parse(stdout || assert.fail(stderr)) as Config;
}

test('a .env file is read, and the environment overrides it', () => {
  const dotEnv = '# ours\nPORT=9001\nBANYAN_ADMIN_USERNAME="张三"\nBANYAN_LOG_LEVEL=warn\nHOST=\n';
  const { port, adminUsername, logLevel, host, dataDir } = readInProcess({ PORT: '9002' }, dotEnv);
  assert.deepEqual([port, adminUsername, logLevel, host], [9002, '张三', 'warn', '127.0.0.1']);
  assert.equal(dataDir, path.join(fs.realpathSync(folder), 'data'));
});

test('a start with invalid settings ends immediately with messages and no stack trace', () => {
  fs.writeFileSync(path.join(folder, '.env'), 'BANYAN_TIME_ZONE=Mars/Olympus\n');
  const start = fileURLToPath(new URL('scripts/start.js', root));
  const { status, stdout, stderr } = spawnSync(process.execPath, [start], {
    cwd: folder,
    env: { PORT: 'none', BANYAN_ADMIN_PASSWORD: 'secret-' },
    encoding: 'utf8',
  });
  assert.equal(status, 1);
  assert.equal(stdout, '');
  for (const name of ['PORT "none"', 'BANYAN_TIME_ZONE "Mars/Olympus"', 'BANYAN_ADMIN_PASSWORD']) {
    assert.ok(stderr.includes(name), stderr);
  }
  assert.doesNotMatch(stderr, /secret-|\n\s+at /);
  assert.deepEqual(fs.readdirSync(folder), ['.env'], 'the start created nothing');
});
