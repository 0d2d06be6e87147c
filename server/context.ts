import type { TypeBoxTypeProvider } from '@fastify/type-provider-typebox';
import type {
  FastifyBaseLogger,
  FastifyInstance,
  RawReplyDefaultExpression,
  RawRequestDefaultExpression,
  RawServerDefault,
} from 'fastify';
import type { Database } from '../db/connect.ts';
import type { PasswordCost, Passwords } from './auth/passwords.ts';
import type { Config } from './config.ts';
import type { ConsoleFiles } from './console/files.ts';
import type { Output } from './http/access-log.ts';
import type { Limits } from './http/limits.ts';
import type { Metrics } from './metrics/metrics.ts';
import type { Scrape } from './metrics/scraping.ts';
import type { Timing } from './timing.ts';
import type { Resolve } from './webhooks/addresses.ts';

/** The dependencies of the domains. This file has types only, so that no domain imports the application. */
export interface Dependencies extends CommonOptions {
  timing: Timing;
  limits: Limits;
  passwords: Passwords;
  /** undefined: metrics are switched off. */
  metrics: Metrics | undefined;
}

interface CommonOptions {
  db: Database;
  config: Config;
  /** The files of the console; by default those of its build. */
  consoleFiles?: ConsoleFiles;
  /** Resolves host names; by default DNS. */
  resolve?: Resolve;
  /** Milliseconds by which the clock of access tokens is ahead of the database's clock; for tests of expiry. */
  tokenClockAheadMs?: () => number;
  /** Replaces the database's clock for quotas and notices, for tests of periods and of reservations that expire. */
  quotaTime?: () => Date | undefined;
  /** The port that the service listens on; by default that of its own server. Workers do not listen themselves. */
  listeningPort?: () => number | undefined;
  /** Collects the metrics of all processes of this node; by default those of this process. Workers ask their parent. */
  scrape?: Scrape;
  /** Receives the log; by default standard output. */
  output?: Output;
}

/** The defaults apply unless `timing` and `limits` say otherwise. */
export interface AppOptions extends CommonOptions {
  timing?: Partial<Timing>;
  limits?: Partial<Limits>;
  passwordCost?: PasswordCost;
}

export type App = FastifyInstance<
  RawServerDefault,
  RawRequestDefaultExpression,
  RawReplyDefaultExpression,
  FastifyBaseLogger,
  TypeBoxTypeProvider
>;
