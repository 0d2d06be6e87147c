import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { StartRefused } from '../db/start-refused.ts';

export type Config = ReturnType<typeof readConfig>;

/**
 * The settings: what the environment may say, what it means when it says nothing. This is the only reader of
 * process.env. The table in the README is checked against this list.
 */
export const settings = {
  PORT: { default: '8080', meaning: 'Port to listen on; 0 takes a free one' },
  HOST: { default: '127.0.0.1', meaning: 'Address to listen on; 0.0.0.0 for all' },
  BANYAN_WORKERS: { default: '1', meaning: 'How many processes serve, 1 to 8: one for each core that is free' },
  DATABASE_URL: { default: '', meaning: 'PostgreSQL 15 or newer; unset: the embedded one' },
  BANYAN_DATA_DIR: { default: './data', meaning: 'Folder of the embedded database' },
  BANYAN_ADMIN_USERNAME: { default: 'admin', meaning: 'First administrator, made at the first start' },
  BANYAN_ADMIN_PASSWORD: { default: '', meaning: 'His password; unset: generated and printed once' },
  BANYAN_TIME_ZONE: {
    default: 'Asia/Shanghai',
    meaning: 'Zone of the times shown, and of the day on which a period ends',
  },
  BANYAN_ERROR_STATUS: {
    default: 'http',
    meaning: '`http`: refusals have their HTTP status; `200`: always 200, for RuoYi front ends',
  },
  BANYAN_ACCESS_TOKEN_SECONDS: { default: '1800', meaning: 'Life of an access token' },
  BANYAN_REFRESH_TOKEN_SECONDS: { default: '604800', meaning: 'Life of a refresh token, from its last use' },
  BANYAN_TRUST_PROXY: {
    default: '',
    meaning: 'Addresses of proxies whose X-Forwarded-For is believed, separated by commas',
  },
  BANYAN_CORS_ORIGINS: {
    default: '',
    meaning: 'Other sites whose pages may call from a browser, separated by commas: https://app.example.com',
  },
  BANYAN_LEDGER_DAYS: {
    default: 'keep',
    meaning: 'After so many days what was followed by later changes goes from the ledger to its archive; `keep`: never',
  },
  BANYAN_WEBHOOK_NETWORKS: {
    default: '',
    meaning:
      'Networks inside that webhooks may lead to, separated by commas: 10.1.0.0/16; `loopback` also allows http there',
  },
  BANYAN_LOG_LEVEL: { default: 'info', meaning: '`fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`' },
} as const;

type Setting = keyof typeof settings;
export type Environment = Partial<Record<string, string | undefined>>;

/** process.env, with what a `.env` file beside it adds. */
export function readEnvironment(): Environment {
  if (fs.existsSync('.env')) process.loadEnvFile('.env');
  return process.env;
}

/** Reads and checks all settings; refuses with a sentence for each one that is wrong. */
export function readConfig(environment: Environment) {
  const faults: string[] = [];
  // Set but empty is how compose files say "not set".
  const read = (name: Setting): string => {
    const text = environment[name] ?? '';
    if (text.trim() === '') return settings[name].default;
    // Spaces may belong to a password.
    return name === 'BANYAN_ADMIN_PASSWORD' ? text : text.trim();
  };
  const check = <T>(name: Setting, expected: string, parse: (text: string) => T | undefined): T => {
    const text = read(name);
    const value = parse(text);
    // A secret is not repeated to the terminal.
    const shown = /PASSWORD|URL/.test(name) ? '' : ` "${text}"`;
    if (value === undefined) faults.push(`${name}${shown}: ${expected}`);
    return value as T;
  };
  const number = (name: Setting, least: number, most: number) =>
    check(name, `must be a whole number from ${least} to ${most}`, (text) =>
      /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined,
    );
  const oneOf = <const T extends string>(name: Setting, values: readonly T[]) =>
    check(name, `must be one of ${values.join(', ')}`, (text) => values.find((value) => value === text));

  const config = {
    port: number('PORT', 0, 65535),
    host: check('HOST', 'must be an address or a host name, without port', (text) =>
      net.isIP(text) > 0 || /^[\w-]+(\.[\w-]+)*$/.test(text) ? text : undefined,
    ),
    workers: number('BANYAN_WORKERS', 1, 8),
    databaseUrl: check(
      'DATABASE_URL',
      'must look like postgres://user:password@host:5432/database, with one host, and with signs such as # / ? % @ in the password escaped as %23 …',
      (text) => (text === '' || isDatabaseUrl(text) ? text : undefined),
    ),
    dataDir: path.resolve(read('BANYAN_DATA_DIR')),
    adminUsername: check('BANYAN_ADMIN_USERNAME', 'must have 1 to 50 characters', (text) =>
      [...text].length <= 50 ? text : undefined,
    ),
    adminPassword: check('BANYAN_ADMIN_PASSWORD', 'must have 8 to 128 characters', (text) =>
      text === '' || ([...text].length >= 8 && [...text].length <= 128) ? text : undefined,
    ),
    timeZone: check('BANYAN_TIME_ZONE', 'must be the name of a time zone, such as Asia/Shanghai or UTC', (text) =>
      isTimeZone(text) ? text : undefined,
    ),
    errorStatus: oneOf('BANYAN_ERROR_STATUS', ['http', '200']),
    accessTokenSeconds: number('BANYAN_ACCESS_TOKEN_SECONDS', 1, 86_400),
    refreshTokenSeconds: number('BANYAN_REFRESH_TOKEN_SECONDS', 1, 31_536_000),
    trustProxy: check('BANYAN_TRUST_PROXY', 'must be addresses or networks, such as 10.0.0.1, 10.0.0.0/8', (text) =>
      text === '' || text.split(',').every((part) => isNetwork(part.trim())) ? text : undefined,
    ),
    corsOrigins: check('BANYAN_CORS_ORIGINS', 'must be origins, such as https://app.example.com', (text) => {
      const origins = text.split(',').flatMap((part) => part.trim() || []);
      return origins.every(isOrigin) ? origins : undefined;
    }),
    ledgerDays: check('BANYAN_LEDGER_DAYS', 'must be keep, or days from 1 to 36500', (text) =>
      text === 'keep' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 36_500) ? text : undefined,
    ),
    webhookNetworks: check('BANYAN_WEBHOOK_NETWORKS', 'must be networks, such as 10.1.0.0/16, or loopback', (text) => {
      const networks = text.split(',').flatMap((part) => part.trim() || []);
      return networks.every((network) => network === 'loopback' || isSubnet(network)) ? networks : undefined;
    }),
    logLevel: oneOf('BANYAN_LOG_LEVEL', ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
  };
  if (faults.length > 0) throw new StartRefused(`Settings that can't be used:\n  ${faults.join('\n  ')}`);
  return Object.freeze(config);
}

function isDatabaseUrl(text: string): boolean {
  try {
    const { protocol, host, username, password, searchParams } = new URL(text);
    for (const part of [host, username, password]) decodeURIComponent(part);
    return /^postgres(ql)?:$/.test(protocol) && Boolean(host || searchParams.get('host')) && !host.includes(',');
  } catch {
    return false;
  }
}

/** As browsers send it: no path, no slash at its end, no port that goes without saying. */
function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** As Fastify takes it: an address, with or without the bits of its network, or one of three names. */
function isNetwork(text: string): boolean {
  return /^(loopback|linklocal|uniquelocal)$/.test(text) || isSubnet(text);
}

function isSubnet(text: string): boolean {
  const [address = '', bits = '0', ...more] = text.split('/');
  const most = { 4: 32, 6: 128 }[net.isIP(address)] ?? -1;
  return /^\d{1,3}$/.test(bits) && Number(bits) <= most && more.length === 0;
}

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
