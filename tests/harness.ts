import { randomBytes } from 'node:crypto';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import postgres from 'postgres';
import { type Database, openDatabase } from '../db/connect.ts';
import { connectOwner, type Sql, type Tx } from '../db/sql.ts';
import { type App, buildApp } from '../server/app.ts';
import { type Environment, readConfig } from '../server/config.ts';
import { makeFirstAdministrator } from '../server/first-start.ts';

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

  /** Creates, insists that it worked, and tells the new id from Location. */
  async make(path: string, body: unknown): Promise<string> {
    const answer = await this.post(path, body);
    if (answer.code !== 200) throw new Error(`POST ${path} answered ${answer.text}`);
    return String(answer.headers.location).split('/').at(-1) as string;
  }

  dept = (body: Record<string, unknown> = {}) => this.make('/system/dept-api', body);
  user = (body: Record<string, unknown> = {}) => this.make('/system/user-api', { password: PASSWORD, ...body });
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

export const PASSWORD = 'correct horse';

export interface Service {
  base: string;
  /** Without a token. */
  nobody: Client;
  /** The administrator of 000000. */
  root: Client;
  databaseUrl: string;
  logIn(tenantId: string, username: string, password?: string): Promise<Client>;
  /** A new tenant (below 000000 unless `below` says otherwise) and its administrator `boss`, logged in. */
  tenant(body?: Record<string, unknown>, below?: Client): Promise<Client & { id: string }>;
  /** A new member of a tenant, logged in. */
  member(of: Client, body?: Record<string, unknown>): Promise<Client & { id: string }>;
  /** Around the service, as the tables' owner; row security binds him too, see `asTenant`. */
  owner: Sql;
  /** As PostgreSQL's superuser, in the same database: sees everything. */
  superuser: Sql;
  /** The service from within, for the little that a caller can't see, such as the list of its routes. */
  app: App;
  close(): Promise<void>;
}

/** What a test may want otherwise about how the service stands on its database. */
export interface Footing {
  /** How many connections it keeps. */
  connections?: number;
  /** Puts something between the service and its database, to see what it asks. */
  between?: (db: Database) => Database;
  /** Where it finds a built console. */
  consoleFolder?: URL;
  /** Where names lead, for webhooks. */
  resolve?: (name: string) => Promise<string[]>;
}

/** A service of its own for a test file; closed after its tests. */
export async function startService(
  environment: Environment = {},
  { connections, between = (db) => db, ...parts }: Footing = {},
): Promise<Service> {
  const { databaseUrl, superuserUrl } = await makeDatabase();
  const config = readConfig({
    BANYAN_LOG_LEVEL: 'silent',
    BANYAN_ADMIN_PASSWORD: PASSWORD,
    DATABASE_URL: databaseUrl,
    ...environment,
  });
  const db = between(await openDatabase({ ...config, ...(connections ? { connections } : {}) }));
  await makeFirstAdministrator(db, config);
  const app = await buildApp({ db, config, ...parts });
  await app.listen({ port: 0, host: '127.0.0.1' });
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  const owner = connectOwner({ url: databaseUrl });
  const superuser = connectOwner({ url: superuserUrl });

  const nobody = new Client(base);
  const logIn = async (tenantId: string, username: string, password = PASSWORD) => {
    const { data, text } = await nobody.post('/auth/login', { tenantId, username, password });
    if (!data?.access_token) throw new Error(`Login as ${username} of ${tenantId} answered ${text}`);
    return new Client(base, data.access_token, data.refresh_token, tenantId);
  };
  let count = 0;
  let closed = false;
  const service: Service = {
    base,
    nobody,
    root: await logIn('000000', 'admin'),
    databaseUrl,
    owner,
    superuser,
    app,
    logIn,
    async tenant(body = {}, below = service.root) {
      const id = await below.make('/system/tenant-api', {
        tenantName: 't',
        username: 'boss',
        password: PASSWORD,
        ...body,
      });
      const { data } = await below.get(`/system/tenant-api/${id}`);
      return Object.assign(await logIn(data.tenantId, 'boss'), { id });
    },
    async member(of, body = {}) {
      const { userName = `member${++count}` } = body as { userName?: string };
      const id = await of.user({ ...body, userName });
      return Object.assign(await logIn(of.tenantId, userName), { id });
    },
    async close() {
      if (closed) return;
      closed = true;
      await app.close();
      await Promise.all([db.close(), owner.end(), superuser.end()]);
    },
  };
  after(() => service.close());
  return service;
}

const server: { socketDir: string; password: string } = JSON.parse(process.env.BANYAN_TEST_SERVER ?? '{}');

/** An empty database in the tests' PostgreSQL, and the addresses of its owner and of the superuser. */
export async function makeDatabase() {
  if (!server.socketDir) throw new Error('Run tests with: npm test (or npm test -- part-of-a-file-name)');
  const name = `test_${randomBytes(6).toString('hex')}`;
  const { password } = server;
  const superuser = postgres({ host: server.socketDir, username: 'postgres', password, database: 'postgres', max: 1 });
  await superuser.unsafe(`
    do $$ begin create role test_owner login createrole password '${password}';
    exception when duplicate_object or unique_violation then null; end $$`);
  await superuser.unsafe(`create database ${name} owner test_owner`);
  await superuser.end();
  const address = (user: string) =>
    `postgres://${user}:${password}@localhost/${name}?host=${encodeURIComponent(server.socketDir)}`;
  return { name, databaseUrl: address('test_owner'), superuserUrl: address('postgres') };
}

/** Runs statements as the tables' owner within one tenant. */
export const asTenant = <T>(sql: Sql, tenantId: string, work: (tx: Tx) => Promise<T>) =>
  sql.begin(async (tx) => {
    await tx`select set_config('banyan.tenant', ${tenantId}, true)`;
    return work(tx);
  });
