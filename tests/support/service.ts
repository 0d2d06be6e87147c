import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { type Database, openDatabase } from '../../db/connect.ts';
import type { ConnectionTiming, Sql, Tx } from '../../db/driver.ts';
import { buildApp } from '../../server/app.ts';
import type { PasswordCost } from '../../server/auth/passwords.ts';
import { type Environment, readConfig } from '../../server/config.ts';
import { type ConsoleFiles, readConsoleFiles } from '../../server/console/files.ts';
import type { App } from '../../server/context.ts';
import { BACKLOG } from '../../server/http/connections.ts';
import type { Limits } from '../../server/http/limits.ts';
import type { Timing } from '../../server/timing.ts';
import { after, afterWorker } from './cleanup.ts';
import { addressesOf, CHEAP_HASH, connectWithoutDeadline, createDatabase, NO_DEADLINES, PASSWORD } from './database.ts';
import { recentLog } from './logs.ts';
import { delayRandomly } from './statements.ts';

/**
 * The fixture of most tests: a service on a new database in the PostgreSQL that `npm test` has started, and clients that call
 * it over HTTP.
 */

export interface ApiResponse {
  status: number;
  headers: http.IncomingHttpHeaders;
  /** The raw body. */
  text: string;
  /** The envelope. If the body is not JSON, code is 0 and data undefined. */
  code: number;
  msg: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects out of any response
  data: any;
}

export interface RequestOptions {
  headers?: Record<string, string>;
  /** The body, instead of JSON. */
  raw?: string | Buffer;
  /** The address to call from, such as 127.0.0.2. */
  from?: string;
}

/** Calls the service, with or without a token. */
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

  get = (path: string, options?: RequestOptions) => this.call('GET', path, undefined, options);
  post = (path: string, body?: unknown, options?: RequestOptions) => this.call('POST', path, body, options);
  put = (path: string, body?: unknown, options?: RequestOptions) => this.call('PUT', path, body, options);
  /** Sends a merge patch. */
  patch = (path: string, body?: unknown, { headers = {}, ...options }: RequestOptions = {}) =>
    this.call('PATCH', path, body, {
      headers: { 'content-type': 'application/merge-patch+json', ...headers },
      ...options,
    });
  delete = (path: string, options?: RequestOptions) => this.call('DELETE', path, undefined, options);

  call(
    method: string,
    path: string,
    body?: unknown,
    { headers = {}, raw, from }: RequestOptions = {},
  ): Promise<ApiResponse> {
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
            resolve({ status, headers, text, ...parseEnvelope(text) });
          });
        },
      );
      request.on('error', reject);
      request.end(payload);
    });
  }

  /** Creates a record, expects success and returns the new id from Location. */
  async create(path: string, body: unknown): Promise<string> {
    const response = await this.post(path, body);
    if (response.code !== 200) throw new Error(`POST ${path} responded ${response.text}`);
    return String(response.headers.location).split('/').at(-1) as string;
  }

  createDepartment = (body: Record<string, unknown> = {}) => this.create('/system/dept-api', body);
  createUser = (body: Record<string, unknown> = {}) => this.create('/system/user-api', { password: PASSWORD, ...body });
}

const agent = new http.Agent({ keepAlive: true });

/** Parses the envelope of a response. If the body is not JSON, code is 0 and data undefined. */
export function parseEnvelope(text: string) {
  try {
    const { code, msg, data } = JSON.parse(text);
    return { code, msg, data };
  } catch {
    return { code: 0, msg: '', data: undefined };
  }
}

export interface Service {
  base: string;
  /** A client without a token. */
  anonymous: Client;
  /** The administrator of 000000. */
  root: Client;
  databaseUrl: string;
  logIn(tenantId: string, username: string, password?: string): Promise<Client>;
  /** Creates a tenant (below 000000 unless `below` says otherwise) and its administrator `boss`, logged in. */
  createTenant(body?: Record<string, unknown>, below?: Client): Promise<Client & { id: string }>;
  /** Creates a member of a tenant, logged in. */
  createMember(of: Client, body?: Record<string, unknown>): Promise<Client & { id: string }>;
  /** Direct access as the tables' owner. Row-level security applies to it too, see `asTenant`. */
  owner: Sql;
  /** Direct access as PostgreSQL's superuser, which sees everything. */
  superuser: Sql;
  /** The Fastify instance, for what callers cannot see, such as the list of its routes. */
  app: App;
  close(): Promise<void>;
}

/** An address that several services use one after another. */
export interface Address {
  base: string;
  routeTo(server: http.Server | undefined): void;
}

/** Options of a service that a test may change. */
export interface ServiceOptions {
  /** Prepares the new database before the service opens it. */
  prepareDatabase?: (superuser: Sql) => Promise<unknown>;
  /** The size of the connection pool. */
  connections?: number;
  /** Deadlines and intervals that the test is about. */
  timing?: Partial<Timing>;
  connectionTiming?: Partial<ConnectionTiming>;
  passwordCost?: PasswordCost;
  /** Wraps the service's database, for example to observe or delay statements (statements.ts). */
  wrapDatabase?: (db: Database) => Database;
  /** Files of the console that replace those of its build. */
  consoleFiles?: ConsoleFiles;
  /** Milliseconds by which the clock of access tokens is ahead of the database's. */
  tokenClockAheadMs?: () => number;
  /** Replaces the database's clock for quotas. */
  quotaTime?: () => Date | undefined;
  /** The address of the service. Default: a free port. */
  address?: Address;
  /** Limits that the test is about. */
  limits?: Partial<Limits>;
  /** Resolves the host names of webhooks. */
  resolve?: (name: string) => Promise<string[]>;
}

/**
 * Deadlines that no test reaches, even on a slow machine, a short interval of the feed, and long ones of webhooks and seals,
 * which few tests need.
 */
export const RELAXED_TIMING: Partial<Timing> = {
  responseMs: 600_000,
  bulkResponseMs: 600_000,
  importResponseMs: 600_000,
  uploadMs: 600_000,
  requestMs: 600_000,
  stallMs: 600_000,
  streamTotalMs: 600_000,
  streamQueueMs: 600_000,
  loginQueueMs: 600_000,
  loginCleanupMs: 600_000,
  historyWaitMs: 600_000,
  webhookResponseMs: 600_000,
  feedScanMs: 600_000,
  noticeMs: 600_000,
  feedPollMs: 50,
  webhookPollMs: 5_000,
  sealMs: 5_000,
  metricsDatabaseMs: 0,
  metricsWaitMs: 600_000,
};

/** For tests of webhooks only: otherwise hundreds of services would poll for work twenty times a second. */
export const FAST_WEBHOOK_POLLING: Partial<Timing> = { webhookPollMs: 50 };

/** Starts a service for the running test, or outside of tests for the test file, and closes it afterwards. */
export async function startService(environment: Environment = {}, options: ServiceOptions = {}): Promise<Service> {
  const service = await createService(environment, options);
  after(() => service.close());
  return service;
}

/** A value and not a promise: when a file awaits a promise that another file created, node:test mixes up their hooks. */
let shared: Service | undefined;

/**
 * Returns a service that the test files of a process share: starting one takes 0.4 s of CPU time. Use it for tests that work
 * in tenants of their own. Start another one to compare or change the whole database, to count what belongs to 000000, to
 * search for numbers, which may be ids of other files, or to let logins fail, which delays later ones from the same address.
 */
export async function shareService(): Promise<Service> {
  if (!shared) {
    const service = await createService({}, { prepareDatabase: raiseIds });
    afterWorker(() => service.close());
    shared = service;
  }
  // A connection that an earlier file has left idle may be closed at the moment when it is used again.
  agent.destroy();
  // The token of an earlier file may have expired.
  shared.root = await shared.logIn('000000', 'admin');
  return shared;
}

/** The services of a process share the files of the console, because reading them takes as long as ten requests. */
const consoleFiles = readConsoleFiles();

/** Raises the ids of new records above those that tests insert: which ids a file gets depends on the files before it. */
const raiseIds = (superuser: Sql) =>
  superuser`select setval('banyan.dept_serial', 1000000000), setval('banyan.user_serial', 1000000000)`;

async function createService(
  environment: Environment = {},
  {
    prepareDatabase = async () => {},
    connections,
    timing,
    connectionTiming,
    wrapDatabase = (db) => db,
    address,
    ...appOptions
  }: ServiceOptions = {},
): Promise<Service> {
  // Another service on the same database needs no database of its own.
  const { databaseUrl, superuserUrl } = addressesOf(environment.DATABASE_URL) ?? (await createDatabase());
  const superuser = connectWithoutDeadline({ url: superuserUrl });
  await prepareDatabase(superuser);
  const config = readConfig({
    BANYAN_ADMIN_PASSWORD: PASSWORD,
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  const databaseOptions = { ...config, timing: { ...NO_DEADLINES, ...connectionTiming } };
  const opened = await openDatabase(connections ? { ...databaseOptions, connections } : databaseOptions);
  const db = wrapDatabase(delayRandomly(opened));
  const app = await buildApp({
    db,
    config,
    passwordCost: CHEAP_HASH,
    output: recentLog,
    consoleFiles,
    timing: { ...RELAXED_TIMING, ...timing },
    ...appOptions,
  });
  const base = address?.base ?? (await listen(app));
  if (address) {
    await app.ready();
    address.routeTo(app.server);
    // `routeTo` has closed the connections to the service that an earlier file used at this address. None of them may be used
    // again.
    agent.destroy();
  }
  const sockets = new Set<Socket>();
  app.server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  const owner = connectWithoutDeadline({ url: databaseUrl });

  const anonymous = new Client(base);
  const logIn = async (tenantId: string, username: string, password = PASSWORD) => {
    const { data, text } = await anonymous.post('/auth/login', { tenantId, username, password });
    if (!data?.access_token) throw new Error(`Login as ${username} of ${tenantId} responded ${text}`);
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
      // Reading it as the superuser takes a third of the time of a request.
      const [{ tenantId }] = await superuser<[{ tenantId: string }]>`
        select tenant_id as "tenantId" from banyan.tenants where id = ${id}`;
      return Object.assign(await logIn(tenantId, 'boss'), { id });
    },
    async createMember(of, body = {}) {
      const { userName = `member${++count}` } = body as { userName?: string };
      const id = await of.createUser({ ...body, userName });
      return Object.assign(await logIn(of.tenantId, userName), { id });
    },
    async close() {
      if (closed) return;
      closed = true;
      address?.routeTo(undefined);
      // Node.js waits a minute for connections without any request: fetch leaves them behind when a request is aborted.
      for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
      await app.close();
      await Promise.all([db.close(), owner.end(), superuser.end()]);
    },
  };
  return service;
}

async function listen(app: App): Promise<string> {
  await app.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG });
  return `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
}

/** Runs a transaction within one tenant. Without a tenant, not even the tables' owner can write rows of tenants. */
export const asTenant = <T>(sql: Sql, tenantId: string, work: (tx: Tx) => Promise<T>) =>
  sql.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
    return work(tx);
  });

export { createEmptyDatabase, PASSWORD } from './database.ts';
