import type { Sql } from './driver.ts';
import { type Hosts, NoPrimaryError } from './hosts.ts';

/** What a new connection reveals about its server. */
export interface ServerIdentity {
  /** The process of the server that serves the connection. Behind a pooler it is a number of the pooler. */
  pid: number;
  /** The timeline of a primary. 0 if the server may also be a standby. */
  timeline: number;
}

/** Finds out which server a new connection leads to. Fails if it is not the primary, and only the primary is wanted. */
export async function identifyServer(sql: Sql, hosts: Hosts): Promise<ServerIdentity> {
  if (!hosts.primaryOnly) return { pid: pidOf(await sql`select`), timeline: 0 };
  const rows = await sql<[{ timeline: number | null }]>`
    select case when not pg_is_in_recovery()
      then ('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int end as timeline`;
  const [{ timeline }] = rows;
  if (timeline === null) throw new NoPrimaryError('it is a standby');
  if (timeline < hosts.timeline)
    throw new NoPrimaryError(`it is a former primary, on timeline ${timeline} instead of ${hosts.timeline}`);
  hosts.timeline = timeline;
  return { pid: pidOf(rows), timeline };
}

const pidOf = (result: { state: { pid: number } | null }): number => result.state?.pid ?? 0;
