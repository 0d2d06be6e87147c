import type { Fragment, Tx } from '../../../db/driver.ts';
import { latestChange } from '../../ledger/history.ts';
import type { PointInTime } from '../../ledger/point-in-time.ts';

/** The name of a user in the row `u.after`, as departments show it. */
const storedName = (tx: Tx) => tx`coalesce(nullif(u.after ->> 'nick_name', ''), u.after ->> 'user_name')`;

export interface WantedName {
  userId: number;
  time: PointInTime;
}

/** Reads the names of users as they were at given times; null: deleted. Users without a change up to that time are left out. */
export const readNamesAt = (tx: Tx, tenantId: string, wanted: readonly WantedName[]) => tx<
  { n: number; name: string | null }[]
>`
  select w.n::int - 1 as n, ${storedName(tx)} as name
  from unnest(${wanted.map(({ userId }) => String(userId))}::bigint[], ${wanted.map(({ time }) => time)}::text[])
    with ordinality w (user_id, time, n)
  cross join lateral (${latestChange(tx, tenantId, 'user', tx`w.user_id`, tx`w.time`)}) u`;

/** The leader after the change `c` of a department, as shown at a point in time: the text, or else the name of the user. */
export const leaderAt = (tx: Tx, tenantId: string, leader: Fragment, time: PointInTime) => tx`
  case when ${leader} is null and c.after ->> 'leader_id' is not null then (
    select ${storedName(tx)} from (select (c.after ->> 'leader_id')::bigint as id) w
    cross join lateral (${latestChange(tx, tenantId, 'user', tx`w.id`, time)}) u
  ) else ${leader} end`;
