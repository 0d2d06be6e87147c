import type { AddressInfo } from 'node:net';
import { type Database, openPool } from '../../db/connect.ts';
import type { Target } from '../../db/driver.ts';
import { errorCode } from '../../db/errors.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { buildApp } from '../../server/app.ts';
import { readConfig } from '../../server/config.ts';
import type { App } from '../../server/context.ts';
import { BACKLOG } from '../../server/http/connections.ts';
import { after } from '../support/cleanup.ts';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { recentLog } from '../support/logs.ts';
import { Client, RELAXED_TIMING, type Service, type ServiceOptions } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Another node on the database of a service. A test of a deadline starts a node with a short deadline and sends it only the
 * requests that must exceed it. Everything else goes through the service, which has no deadlines, so the test passes on a
 * slow machine too.
 */
export interface Node {
  base: string;
  app: App;
  db: Database;
  /** How often a connection was requested for some work, and how often that work has ended. */
  uses: { begun: number; ended: number };
  /** Returns a client of the same user that calls this node. */
  as(client: Client): Client;
  /** Closes the node. It is also closed after its test. */
  close(): Promise<void>;
}

/** Disables background work: only the requests of the test use the node's connections. */
const NO_BACKGROUND_WORK = { sealMs: 600_000, webhookPollMs: 600_000, feedPollMs: 600_000, noticeMs: 600_000 };

export const databaseOf = async ({ databaseUrl, owner }: Service): Promise<Target> => ({
  url: databaseUrl,
  ...(await readServiceLogin(owner)),
});

export async function startNode(
  database: Target,
  {
    timing,
    connectionTiming,
    connections,
    limits,
    wrapDatabase = (db) => db,
    settings,
  }: Pick<ServiceOptions, 'timing' | 'connectionTiming' | 'connections' | 'limits' | 'wrapDatabase'> & {
    settings?: Record<string, string>;
  } = {},
): Promise<Node> {
  const config = readConfig({ DATABASE_URL: database.url, ...settings });
  const pool = openPool(database, {
    timeZone: config.timeZone,
    timing: { ...NO_DEADLINES, ...connectionTiming },
    ...(connections ? { connections } : {}),
  });
  const uses = { begun: 0, ended: 0 };
  const db: Database = wrapDatabase({
    ...pool,
    use(work) {
      uses.begun++;
      return pool.use(work).finally(() => uses.ended++);
    },
  });
  const options = {
    db,
    config,
    passwordCost: CHEAP_HASH,
    output: recentLog,
    timing: { ...RELAXED_TIMING, ...NO_BACKGROUND_WORK, ...timing },
    ...(limits ? { limits } : {}),
  };
  // A short statement timeout may also cancel statements of the start: retry.
  const app = await waitFor('the node starts', () =>
    buildApp(options).catch((error) => {
      if (errorCode(error) !== '57014') throw error;
      return undefined;
    }),
  );
  let closing: Promise<void> | undefined;
  const close = () => {
    // A failed test may have left requests open.
    app.server.closeAllConnections();
    closing ??= app.close().then(() => pool.close());
    return closing;
  };
  after(close);
  await app.listen({ port: 0, host: '127.0.0.1', backlog: BACKLOG });
  await waitFor('the node is idle', () => uses.begun === uses.ended);
  const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return {
    base,
    app,
    db,
    uses,
    as: ({ token, refreshToken, tenantId }) => new Client(base, token, refreshToken, tenantId),
    close,
  };
}
