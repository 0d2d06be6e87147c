import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { parseHosts } from '../db/hosts.ts';
import { StartupError } from '../db/startup-error.ts';
import { isNetwork } from './http/address.ts';
import { hasPasswordLength } from './http/fields.ts';

export type Config = ReturnType<typeof readConfig>;

/**
 * All settings, with their defaults. Only this file reads process.env. A test compares the table in the README with this
 * list.
 */
export const settings = {
  PORT: { default: '8080', meaning: 'Port to listen on; 0 picks a free port' },
  HOST: { default: '127.0.0.1', meaning: 'Address to listen on; 0.0.0.0 for all interfaces' },
  BANYAN_ISSUER: {
    default: '',
    meaning:
      'Public URL of the service, which access tokens name as their issuer: https://org.example.com; if unset, the address it listens on',
  },
  BANYAN_WORKERS: {
    default: '1',
    meaning: 'Number of server processes, 1 to 8; at most one per available core is useful',
  },
  DATABASE_URL: {
    default: '',
    meaning: 'PostgreSQL 15 or newer; several hosts are separated by commas; if unset, the embedded PostgreSQL',
  },
  BANYAN_DATA_DIR: { default: './data', meaning: 'Data directory of the embedded PostgreSQL' },
  BANYAN_WAL_ARCHIVE: {
    default: '',
    meaning:
      'Folder in which the embedded PostgreSQL archives every change, for a restore to any second (docs/operations.md)',
  },
  BANYAN_BACKUP_FOLDER: {
    default: '',
    meaning: 'Folder for scheduled backups of the embedded PostgreSQL; if unset, none are taken',
  },
  BANYAN_BACKUP_EVERY_HOURS: { default: '24', meaning: 'Hours from one scheduled backup to the next, 1 to 720' },
  BANYAN_BACKUP_KEEP: {
    default: '7',
    meaning: 'How many scheduled backups are kept; older ones are removed after a newer one is complete',
  },
  BANYAN_ADMIN_USERNAME: {
    default: 'admin',
    meaning: 'User name of the first administrator, created at the first start',
  },
  BANYAN_ADMIN_PASSWORD: {
    default: '',
    meaning: 'Password of the first administrator; if unset, generated and printed once',
  },
  BANYAN_TIME_ZONE: {
    default: 'Asia/Shanghai',
    meaning: 'Time zone of displayed times, and of the day on which a service period ends',
  },
  BANYAN_ERROR_STATUS: {
    default: 'http',
    meaning: '`http`: errors have their HTTP status; `200`: always HTTP 200, for RuoYi front ends',
  },
  BANYAN_RUOYI_API: {
    default: '0',
    meaning: '`1`: also answers the calls of RuoYi-Vue-Plus 5.x front ends (docs/ruoyi-api.md)',
  },
  BANYAN_RUOYI_TENANTS: {
    default: '000000',
    meaning:
      'Tenants that the login page of a RuoYi front end offers, visible to everyone, separated by commas: 000000=Head office,123456',
  },
  BANYAN_ACCESS_TOKEN_SECONDS: { default: '1800', meaning: 'Lifetime of an access token, in seconds' },
  BANYAN_REFRESH_TOKEN_SECONDS: {
    default: '604800',
    meaning: 'Lifetime of a refresh token, in seconds; each refresh returns a new one',
  },
  BANYAN_SESSION_DAYS: {
    default: '30',
    meaning: 'A session ends this many days after its login, even if it is used',
  },
  BANYAN_SESSIONS_PER_USER: {
    default: '20',
    meaning: 'Maximum number of sessions of a user; a further login ends the oldest one',
  },
  BANYAN_TRUST_PROXY: {
    default: '',
    meaning: 'Addresses of proxies whose X-Forwarded-For is trusted, separated by commas',
  },
  BANYAN_CORS_ORIGINS: {
    default: '',
    meaning: 'Other origins whose pages may call the service, separated by commas: https://app.example.com',
  },
  BANYAN_LEDGER_DAYS: {
    default: 'keep',
    meaning: 'Changes older than this many days that have been superseded move to the archive; `keep`: never',
  },
  BANYAN_WEBHOOK_NETWORKS: {
    default: '',
    meaning:
      'Internal networks that webhooks may call, separated by commas: 10.1.0.0/16; `loopback` also allows http to this machine',
  },
  BANYAN_TENANT_REQUESTS_PER_SECOND: {
    default: 'off',
    meaning:
      'Requests per second of each tenant, over all workers and nodes, with bursts of five times as many; `off`: no limit',
  },
  BANYAN_DEPARTMENT_LEVELS: {
    default: '1000',
    meaning: 'How many levels deep departments may be nested, 1 to 20000; deeper ones that exist stay readable',
  },
  BANYAN_TENANT_LEVELS: {
    default: '32',
    meaning: 'How many levels deep tenants may be nested, 2 to 100, counted from 000000',
  },
  BANYAN_MENU_NAMES: {
    default: '',
    meaning: 'JSON file with the names of menus, `{"100":"System"}`, which the console shows instead of numbers',
  },
  BANYAN_METRICS: {
    default: '0',
    meaning: '`1`: serves metrics for Prometheus at `/metrics`, to everyone who can reach the service',
  },
  BANYAN_METRICS_PORT: {
    default: '',
    meaning: 'Serves metrics for Prometheus at `/metrics` on this port, and nothing else there; 0 picks a free port',
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    default: '',
    meaning: 'URL of a collector of OpenTelemetry traces (OTLP over HTTP): http://localhost:4318; if unset, no traces',
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    default: '',
    meaning: 'The same as a complete URL: http://localhost:4318/v1/traces; takes precedence',
  },
  OTEL_TRACES_EXPORTER: { default: 'otlp', meaning: '`otlp`, or `none`: no traces, whatever the endpoint is' },
  OTEL_SDK_DISABLED: { default: 'false', meaning: '`true`: no traces, whatever the endpoint is' },
  BANYAN_LOG_LEVEL: { default: 'info', meaning: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`' },
} as const;

type Setting = keyof typeof settings;
export type Environment = Partial<Record<string, string | undefined>>;

/**
 * Returns the environment, extended by the `.env` file of the working directory. Removes the password of the first
 * administrator from the environment of this process, which its children would inherit and other processes can read.
 */
export function readEnvironment(): Environment {
  if (fs.existsSync('.env')) process.loadEnvFile('.env');
  const environment = { ...process.env };
  delete process.env.BANYAN_ADMIN_PASSWORD;
  eraseFromInitialEnvironment('BANYAN_ADMIN_PASSWORD');
  return environment;
}

/**
 * Overwrites the value of a variable in the memory that `/proc/<pid>/environ` shows. Linux shows the environment with which
 * the process was started; changes of process.env do not affect it.
 */
function eraseFromInitialEnvironment(name: string): void {
  if (process.platform !== 'linux') return;
  try {
    const initial = fs.readFileSync('/proc/self/environ', 'latin1');
    const [found, before, value] = new RegExp(`(^|\\0)${name}=([^\\0]+)`).exec(initial) ?? [];
    if (found === undefined || before === undefined || value === undefined) return;
    // The 50th field is the address of the environment. The second one, the program's name, may contain spaces and parentheses.
    const stat = fs.readFileSync('/proc/self/stat', 'latin1');
    const start = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[47]);
    const position = start + initial.indexOf(found) + before.length + name.length + 1;
    const memory = fs.openSync('/proc/self/mem', 'r+');
    try {
      fs.writeSync(memory, Buffer.alloc(value.length), 0, value.length, position);
    } finally {
      fs.closeSync(memory);
    }
  } catch {
    // The system does not allow it. Children still do not inherit the variable.
  }
}

/** Reads and validates all settings. Throws an error that lists every invalid one. */
export function readConfig(environment: Environment) {
  const problems: string[] = [];
  // An empty value counts as unset: Compose files often set variables to nothing.
  const read = (name: Setting): string => {
    const text = environment[name] ?? '';
    if (text.trim() === '') return settings[name].default;
    // A password may begin or end with spaces.
    return name === 'BANYAN_ADMIN_PASSWORD' ? text : text.trim();
  };
  const check = <T>(name: Setting, expected: string, parse: (text: string) => T | undefined): T => {
    const text = read(name);
    const value = parse(text);
    // Do not print secrets.
    const shown = /PASSWORD|URL/.test(name) ? '' : ` "${text}"`;
    if (value === undefined) problems.push(`${name}${shown}: ${expected}`);
    return value as T;
  };
  const integer = (name: Setting, min: number, max: number) =>
    check(name, `must be an integer from ${min} to ${max}`, (text) =>
      /^\d+$/.test(text) && Number(text) >= min && Number(text) <= max ? Number(text) : undefined,
    );
  const oneOf = <const T extends string>(name: Setting, values: readonly T[]) =>
    check(name, `must be one of ${values.join(', ')}`, (text) => values.find((value) => value === text));

  const config = {
    port: integer('PORT', 0, 65535),
    host: check('HOST', 'must be an IP address or a host name, without a port', (text) =>
      net.isIP(text) > 0 || /^[\w-]+(\.[\w-]+)*$/.test(text) ? text : undefined,
    ),
    // '': the address that the service listens on (auth/issuer.ts)
    issuer: check(
      'BANYAN_ISSUER',
      'must be a URL without a trailing slash, query or fragment, such as https://org.example.com',
      (text) => (text === '' || isIssuer(text) ? text : undefined),
    ),
    workers: integer('BANYAN_WORKERS', 1, 8),
    databaseUrl: check(
      'DATABASE_URL',
      'must look like postgres://user:password@host:5432/database, with one or more hosts (host1:5432,host2:5432) and, if set, target_session_attrs=read-write; characters such as # / ? % @ in the password must be percent-encoded (# as %23)',
      (text) => (text === '' || isDatabaseUrl(text) ? text : undefined),
    ),
    dataDir: path.resolve(read('BANYAN_DATA_DIR')),
    walArchive: check('BANYAN_WAL_ARCHIVE', 'must be a folder outside of the data directory', (text) =>
      isOutside(text, read('BANYAN_DATA_DIR')) ? text && path.resolve(text) : undefined,
    ),
    backupFolder: check('BANYAN_BACKUP_FOLDER', 'must be a folder outside of the data directory', (text) =>
      isOutside(text, read('BANYAN_DATA_DIR')) ? text && path.resolve(text) : undefined,
    ),
    backupEveryHours: integer('BANYAN_BACKUP_EVERY_HOURS', 1, 720),
    backupKeep: integer('BANYAN_BACKUP_KEEP', 1, 1_000),
    adminUsername: check('BANYAN_ADMIN_USERNAME', 'must have 1 to 50 characters', (text) =>
      [...text].length <= 50 ? text : undefined,
    ),
    adminPassword: check('BANYAN_ADMIN_PASSWORD', 'must have 8 to 128 characters', (text) =>
      text === '' || hasPasswordLength(text) ? text : undefined,
    ),
    timeZone: check('BANYAN_TIME_ZONE', 'must be the name of a time zone, such as Asia/Shanghai or UTC', (text) =>
      isTimeZone(text) ? text : undefined,
    ),
    errorStatus: oneOf('BANYAN_ERROR_STATUS', ['http', '200']),
    ruoyiApi: oneOf('BANYAN_RUOYI_API', ['0', '1']) === '1',
    ruoyiTenants: check(
      'BANYAN_RUOYI_TENANTS',
      'must be a comma-separated list of tenant codes, each with an optional name: 000000=Head office,123456',
      (text) => {
        const tenants = text.split(',').map((part) => /^\s*(\d{6,18})\s*(?:=(.*))?$/s.exec(part));
        if (!tenants.every((match) => match !== null)) return undefined;
        return tenants.map(([, tenantId = '', name = '']) => ({ tenantId, companyName: name.trim() || tenantId }));
      },
    ),
    accessTokenSeconds: integer('BANYAN_ACCESS_TOKEN_SECONDS', 1, 86_400),
    refreshTokenSeconds: integer('BANYAN_REFRESH_TOKEN_SECONDS', 1, 31_536_000),
    sessionSeconds: integer('BANYAN_SESSION_DAYS', 1, 3_650) * 86_400,
    maxSessions: integer('BANYAN_SESSIONS_PER_USER', 1, 1_000),
    trustProxy: check(
      'BANYAN_TRUST_PROXY',
      'must be a comma-separated list of addresses or networks, such as 10.0.0.1,10.0.0.0/8',
      (text) => (text === '' || text.split(',').every((part) => isTrustedProxy(part.trim())) ? text : undefined),
    ),
    corsOrigins: check(
      'BANYAN_CORS_ORIGINS',
      'must be a comma-separated list of origins, such as https://app.example.com',
      (text) => {
        const origins = text.split(',').flatMap((part) => part.trim() || []);
        return origins.every(isOrigin) ? origins : undefined;
      },
    ),
    ledgerDays: check('BANYAN_LEDGER_DAYS', 'must be `keep` or a number of days from 1 to 36500', (text) =>
      text === 'keep' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 36_500) ? text : undefined,
    ),
    // null: no limit
    tenantRequestsPerSecond: check(
      'BANYAN_TENANT_REQUESTS_PER_SECOND',
      'must be `off` or a number from 1 to 1000000',
      (text) => {
        if (text === 'off') return null;
        return /^\d{1,7}$/.test(text) && Number(text) >= 1 && Number(text) <= 1_000_000 ? Number(text) : undefined;
      },
    ),
    webhookNetworks: check(
      'BANYAN_WEBHOOK_NETWORKS',
      'must be a comma-separated list of networks, such as 10.1.0.0/16, or `loopback`',
      (text) => {
        const networks = text.split(',').flatMap((part) => part.trim() || []);
        return networks.every((network) => network === 'loopback' || isNetwork(network)) ? networks : undefined;
      },
    ),
    departmentLevels: integer('BANYAN_DEPARTMENT_LEVELS', 1, 20_000),
    tenantLevels: integer('BANYAN_TENANT_LEVELS', 2, 100),
    menuNames: check('BANYAN_MENU_NAMES', 'must be a readable JSON file such as {"100":"System"}', readMenuNames),
    metrics: oneOf('BANYAN_METRICS', ['0', '1']) === '1',
    // null: no separate port for metrics
    metricsPort: check('BANYAN_METRICS_PORT', 'must be an integer from 0 to 65535 other than PORT', (text) => {
      if (text === '') return null;
      if (!/^\d+$/.test(text) || Number(text) > 65_535) return undefined;
      return Number(text) > 0 && Number(text) === Number(read('PORT')) ? undefined : Number(text);
    }),
    otlpEndpoint: check('OTEL_EXPORTER_OTLP_ENDPOINT', 'must be an http or https URL', httpUrl),
    otlpTracesEndpoint: check('OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'must be an http or https URL', httpUrl),
    otelTracesExporter: oneOf('OTEL_TRACES_EXPORTER', ['otlp', 'none']),
    otelDisabled: check('OTEL_SDK_DISABLED', 'must be true or false', (text) => {
      const lowerCase = text.toLowerCase();
      return lowerCase === 'true' || lowerCase === 'false' ? lowerCase === 'true' : undefined;
    }),
    logLevel: oneOf('BANYAN_LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  };
  for (const [name, folder] of [
    ['BANYAN_WAL_ARCHIVE', config.walArchive],
    ['BANYAN_BACKUP_FOLDER', config.backupFolder],
  ]) {
    if (folder && config.databaseUrl)
      problems.push(
        `${name} "${folder}": must not be set if DATABASE_URL is set; back up that PostgreSQL with its own tools`,
      );
  }
  if (problems.length > 0) throw new StartupError(`Invalid settings:\n  ${problems.join('\n  ')}`);
  return Object.freeze(config);
}

function readMenuNames(file: string): Record<string, string> | undefined {
  if (file === '') return {};
  try {
    const names: unknown = JSON.parse(fs.readFileSync(file, 'utf8'));
    const isValid = ([id, name]: [string, unknown]) => /^\d+$/.test(id) && typeof name === 'string';
    return typeof names === 'object' && names !== null && Object.entries(names).every(isValid)
      ? (names as Record<string, string>)
      : undefined;
  } catch {
    return undefined;
  }
}

const httpUrl = (text: string): string | undefined =>
  text === '' || (/^https?:/.test(text) && URL.canParse(text)) ? text : undefined;

function isDatabaseUrl(text: string): boolean {
  try {
    parseHosts(text);
    return true;
  } catch {
    return false;
  }
}

/** Whether a folder is neither the data directory nor in it: backups must survive the loss of the data. */
function isOutside(folder: string, dataDir: string): boolean {
  const relative = path.relative(path.resolve(dataDir), path.resolve(folder));
  return folder === '' || relative === '..' || relative.startsWith(`..${path.sep}`);
}

/** Whether a text is an origin as browsers send it: without a path, a trailing slash or a default port. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Whether a text can be an issuer (RFC 8414). Verifiers compare it character by character, so it has one spelling only. */
function isIssuer(text: string): boolean {
  if (!/^https?:/.test(text) || !URL.canParse(text)) return false;
  const { origin, pathname } = new URL(text);
  return text === `${origin}${pathname}`.replace(/\/$/, '');
}

/** Whether Fastify's `trustProxy` accepts a text: an address, a network in CIDR notation, or one of three names. */
const isTrustedProxy = (text: string) => /^(loopback|linklocal|uniquelocal)$/.test(text) || isNetwork(text);

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
