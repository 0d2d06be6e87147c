import type { AddressInfo } from 'node:net';
import { after } from 'node:test';
import { type Database, openPool } from '../../db/connect.ts';
import { readServiceLogin } from '../../db/roles.ts';
import { codeOf, type Target } from '../../db/sql.ts';
import { type App, buildApp } from '../../server/app.ts';
import { readConfig } from '../../server/config.ts';
import { CHEAP_HASH, NO_DEADLINES } from '../support/database.ts';
import { recentLog } from '../support/logs.ts';
import { Client, type Footing, type Service, UNHURRIED } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

/**
 * Another node on the database of a service. A test whose subject is a deadline sends only the requests that must exceed
 * it to a node with a short one; it prepares and checks everything through the service, which has no deadlines. So it
 * passes on a slow machine, too.
 */
export interface Node {
  base: string;
  app: App;
  /** Its connections. */
  db: Database;
  /** How often work asked for a connection, and how often such work has ended. */
  uses: { begun: number; ended: number };
  /** The same user, who calls this node. */
  as(client: Client): Client;
  /** It is closed after its test, too. */
  close(): Promise<void>;
}

/** Nothing runs in the background of a node: only the requests of the test use its connections. */
const QUIET = { sealMs: 600_000, webhookPollMs: 600_000, feedPollMs: 600_000 };

export const databaseOf = async ({ databaseUrl, owner }: Service): Promise<Target> => ({
  url: databaseUrl,
  ...(await readServiceLogin(owner)),
});

export async function startNode(
  database: Target,
  { timing, connectionTiming, connections }: Pick<Footing, 'timing' | 'connectionTiming' | 'connections'> = {},
): Promise<Node> {
  const config = readConfig({ DATABASE_URL: database.url });
  const pool = openPool(database, {
    timeZone: config.timeZone,
    timing: { ...NO_DEADLINES, ...connectionTiming },
    ...(connections ? { connections } : {}),
  });
  const uses = { begun: 0, ended: 0 };
  const db: Database = {
    ...pool,
    use(work) {
      uses.begun++;
      return pool.use(work).finally(() => uses.ended++);
    },
  };
  const options = {
    db,
    config,
    passwordCost: CHEAP_HASH,
    output: recentLog,
    timing: { ...UNHURRIED, ...QUIET, ...timing },
  };
  // A short deadline for statements may end those of the start, too.
  const app = await waitFor('the node starts', () =>
    buildApp(options).catch((error) => {
      if (codeOf(error) !== '57014') throw error;
      return undefined;
    }),
  );
  let closing: Promise<void> | undefined;
  const close = () => {
    // A test that failed may have left requests without an answer.
    app.server.closeAllConnections();
    closing ??= app.close().then(() => pool.close());
    return closing;
  };
  after(close);
  await app.listen({ port: 0, host: '127.0.0.1' });
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
