import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { type Database, openDatabase } from '../../db/connect.ts';
import { type ConnectionTiming, connectOwner, type Sql, type Tx } from '../../db/sql.ts';
import { type App, buildApp } from '../../server/app.ts';
import type { PasswordCost } from '../../server/auth/passwords.ts';
import { type Environment, readConfig } from '../../server/config.ts';
import type { Timing } from '../../server/timing.ts';
import { CHEAP_HASH, createDatabase, NO_DEADLINES, PASSWORD } from './database.ts';
import { recentLog } from './logs.ts';

/**
 * What tests stand on: a service on a database of its own, in the PostgreSQL that `npm test` started, spoken to over
 * HTTP like any caller would.
 */

export interface Answer {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The body as it came. */
  text: string;
  /** The envelope; undefined where the body is none. */
  code: number;
  msg: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects out of any answer
  data: any;
}

export interface Options {
  headers?: Record<string, string>;
  /** Sent as it is, instead of JSON. */
  raw?: string | Buffer;
  /** The address to call from, such as 127.0.0.2. */
  from?: string;
}

/** Somebody who calls the service: with a token, or without one. */
export class Client {
  readonly base: string;
  readonly token: string | undefined;
  readonly refreshToken: string | undefined;
  readonly tenantId: string;

  constructor(base: string, token?: string, refreshToken?: string, tenantId = '') {
    this.base = base;
    this.token = token;
    this.refreshToken = refreshToken;
    this.tenantId = tenantId;
  }

  get = (path: string, options?: Options) => this.call('GET', path, undefined, options);
  post = (path: string, body?: unknown, options?: Options) => this.call('POST', path, body, options);
  put = (path: string, body?: unknown, options?: Options) => this.call('PUT', path, body, options);
  delete = (path: string, options?: Options) => this.call('DELETE', path, undefined, options);

  call(method: string, path: string, body?: unknown, { headers = {}, raw, from }: Options = {}): Promise<Answer> {
    const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const { hostname, port } = new URL(this.base);
    const all = {
      ...(payload === undefined
        ? {}
        : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
      ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
      ...headers,
    };
    return new Promise((resolve, reject) => {
      const request = http.request(
        { method, path, hostname, port, headers: all, agent, ...(from ? { localAddress: from } : {}) },
        (response) => {
          const chunks: Buffer[] = [];
          response.on('data', (chunk) => chunks.push(chunk));
          response.on('error', reject);
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString('utf8');
            const { statusCode: status = 0, headers } = response;
            resolve({ status, headers, text, ...envelope(text) });
          });
        },
      );
      request.on('error', reject);
      request.end(payload);
    });
  }

  /** Creates, expects success and returns the new id from Location. */
  async create(path: string, body: unknown): Promise<string> {
    const answer = await this.post(path, body);
    if (answer.code !== 200) throw new Error(`POST ${path} answered ${answer.text}`);
    return String(answer.headers.location).split('/').at(-1) as string;
  }

  createDepartment = (body: Record<string, unknown> = {}) => this.create('/system/dept-api', body);
  createUser = (body: Record<string, unknown> = {}) => this.create('/system/user-api', { password: PASSWORD, ...body });
}

const agent = new http.Agent({ keepAlive: true });

function envelope(text: string) {
  try {
    const { code, msg, data } = JSON.parse(text);
    return { code, msg, data };
  } catch {
    return { code: 0, msg: '', data: undefined };
  }
}

export interface Service {
  base: string;
  /** Without a token. */
  anonymous: Client;
  /** The administrator of 000000. */
  root: Client;
  databaseUrl: string;
  logIn(tenantId: string, username: string, password?: string): Promise<Client>;
  /** Creates a tenant (below 000000 unless `below` says otherwise) and its administrator `boss`, logged in. */
  createTenant(body?: Record<string, unknown>, below?: Client): Promise<Client & { id: string }>;
  /** A new member of a tenant, logged in. */
  createMember(of: Client, body?: Record<string, unknown>): Promise<Client & { id: string }>;
  /** Around the service, as the tables' owner; row security binds him too, see `asTenant`. */
  owner: Sql;
  /** As PostgreSQL's superuser, in the same database: sees everything. */
  superuser: Sql;
  /** The service from within, for the little that a caller can't see, such as the list of its routes. */
  app: App;
  close(): Promise<void>;
}

/** An address that leads to one service after another. */
export interface Address {
  base: string;
  lead(to: http.Server | undefined): void;
}

/** What a test may want otherwise about how the service stands on its database. */
export interface Footing {
  /** How many connections it keeps. */
  connections?: number;
  /** Deadlines and intervals that are the subject of the test. */
  timing?: Partial<Timing>;
  connectionTiming?: Partial<ConnectionTiming>;
  passwordCost?: PasswordCost;
  /** Puts something between the service and its database, to see what it asks. */
  between?: (db: Database) => Database;
  /** Where it finds a built console. */
  consoleFolder?: URL;
  /** Milliseconds by which the clock of access tokens is ahead of the database's. */
  tokenClockAheadMs?: () => number;
  /** Where it is reached; a port of its own otherwise. */
  door?: Address;
  /** Where names lead, for webhooks. */
  resolve?: (name: string) => Promise<string[]>;
}

/** No deadline of the service ends a test's work on a slow machine, and nobody waits long for the background. */
export const UNHURRIED: Partial<Timing> = {
  responseMs: 600_000,
  bulkResponseMs: 600_000,
  requestMs: 600_000,
  streamStallMs: 600_000,
  streamTotalMs: 600_000,
  streamQueueMs: 600_000,
  loginQueueMs: 600_000,
  historyWaitMs: 600_000,
  webhookResponseMs: 600_000,
  feedPollMs: 50,
};

/** Where webhooks are the subject. Elsewhere hundreds of services would look for work twenty times a second. */
export const QUICK_WEBHOOKS: Partial<Timing> = { webhookPollMs: 50 };

/** A service of its own for a test file; closed after its tests. */
export async function startService(
  environment: Environment = {},
  { connections, timing, connectionTiming, between = (db) => db, door, ...parts }: Footing = {},
): Promise<Service> {
  const { databaseUrl, superuserUrl } = await createDatabase();
  const config = readConfig({
    BANYAN_ADMIN_PASSWORD: PASSWORD,
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  const place = { ...config, timing: { ...NO_DEADLINES, ...connectionTiming } };
  const db = between(await openDatabase(connections ? { ...place, connections } : place));
  const app = await buildApp({
    db,
    config,
    passwordCost: CHEAP_HASH,
    output: recentLog,
    timing: { ...UNHURRIED, ...timing },
    ...parts,
  });
  const base = door?.base ?? (await listen(app));
  if (door) {
    await app.ready();
    door.lead(app.server);
  }
  const owner = connectOwner({ url: databaseUrl });
  const superuser = connectOwner({ url: superuserUrl });

  const anonymous = new Client(base);
  const logIn = async (tenantId: string, username: string, password = PASSWORD) => {
    const { data, text } = await anonymous.post('/auth/login', { tenantId, username, password });
    if (!data?.access_token) throw new Error(`Login as ${username} of ${tenantId} answered ${text}`);
    return new Client(base, data.access_token, data.refresh_token, tenantId);
  };
  let count = 0;
  let closed = false;
  const service: Service = {
    base,
    anonymous,
    root: await logIn('000000', 'admin'),
    databaseUrl,
    owner,
    superuser,
    app,
    logIn,
    async createTenant(body = {}, below = service.root) {
      const id = await below.create('/system/tenant-api', {
        tenantName: 't',
        username: 'boss',
        password: PASSWORD,
        ...body,
      });
      const { data } = await below.get(`/system/tenant-api/${id}`);
      return Object.assign(await logIn(data.tenantId, 'boss'), { id });
    },
    async createMember(of, body = {}) {
      const { userName = `member${++count}` } = body as { userName?: string };
      const id = await of.createUser({ ...body, userName });
      return Object.assign(await logIn(of.tenantId, userName), { id });
    },
    async close() {
      if (closed) return;
      closed = true;
      door?.lead(undefined);
      await app.close();
      await Promise.all([db.close(), owner.end(), superuser.end()]);
    },
  };
  after(() => service.close());
  return service;
}

async function listen(app: App): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1' });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Runs statements as the tables' owner within one tenant. */
export const asTenant = <T>(sql: Sql, tenantId: string, work: (tx: Tx) => Promise<T>) =>
  sql.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
    return work(tx);
  });

export { createEmptyDatabase, PASSWORD } from './database.ts';
