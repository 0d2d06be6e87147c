import { setTimeout } from 'node:timers/promises';
import type { Target } from './driver.ts';
import { errorCode } from './errors.ts';

/** One of the servers that DATABASE_URL names. */
export interface Host {
  target: Target;
  /** Its address, for messages: without the user and the password. */
  name: string;
}

/** The servers of one database, and which of them is thought to be its primary. */
export interface Hosts {
  list: readonly [Host, ...Host[]];
  /** Whether only the primary is used. A single server is used whatever it is, unless DATABASE_URL asks for the primary. */
  primaryOnly: boolean;
  /** Where the next connection is opened. It changes only after a failure, or when another host has been promoted. */
  current: Host;
  /**
   * The highest timeline of a primary so far. A promotion begins a new one, so a primary with a lower one has been replaced,
   * and must not be used again.
   */
  timeline: number;
}

/** Values of `target_session_attrs` that ask for the primary. */
const PRIMARY = ['primary', 'read-write'];

/**
 * Splits a URL in libpq's notation, such as `postgres://user:password@host1:5432,host2:5433/database`, into one URL for each
 * host. Throws if it is not valid. WHATWG URLs cannot have several hosts.
 */
export function parseHosts(url: string): Hosts {
  const [, scheme = '', login = '', authority = '', rest = ''] =
    /^(postgres(?:ql)?:\/\/)((?:[^/?#]*@)?)([^/?#]*)(.*)$/s.exec(url) ?? [];
  const hosts = authority.split(',').map((host) => {
    const address = new URL(`${scheme}${login}${host}${rest}`);
    const wanted = address.searchParams.get('target_session_attrs');
    if (wanted !== null) address.searchParams.delete('target_session_attrs');
    const folder = address.searchParams.get('host');
    for (const part of [address.hostname, address.username, address.password]) decodeURIComponent(part);
    // libpq also takes lists of hosts and ports as parameters; here there is one notation.
    if (!(host || folder) || folder?.includes(',') || (authority.includes(',') && (folder || !host)))
      throw new Error('invalid host');
    if (wanted !== null && wanted !== 'any' && !PRIMARY.includes(wanted))
      throw new Error('unsupported target_session_attrs');
    return {
      primaryOnly: PRIMARY.includes(wanted ?? ''),
      target: { url: wanted === null ? address.href : address.href.replace(/\?$/, '') },
      name: folder || decodeURIComponent(address.host),
    };
  });
  const list = hosts.map(({ target, name }) => ({ target, name })) as [Host, ...Host[]];
  return {
    list,
    primaryOnly: list.length > 1 || hosts.some(({ primaryOnly }) => primaryOnly),
    current: list[0],
    timeline: 0,
  };
}

/** Returns the servers of a target with the same login. One without a URL is the embedded server. */
export function hostsOf({ url, ...login }: Target): Hosts {
  const host = { target: login, name: login.host ?? '' };
  if (!url) return { list: [host], primaryOnly: false, current: host, timeline: 0 };
  const hosts = parseHosts(url);
  for (const { target } of hosts.list) Object.assign(target, login);
  return hosts;
}

/** Lets the next connection try another host, unless others have already moved on. */
export function selectNextHost(hosts: Hosts, failed: Host): void {
  if (hosts.current !== failed) return;
  hosts.current = hosts.list[(hosts.list.indexOf(failed) + 1) % hosts.list.length] as Host;
}

/**
 * No server accepts writes, or the one that was tried does not. The code is that of a lost connection: the request is answered
 * with DATABASE_AWAY.
 */
export class NoPrimaryError extends Error {
  readonly code = 'CONNECTION_NO_PRIMARY';
}

/** A pause after all hosts have failed, so that a database without a primary is not flooded with logins. */
const PAUSE_MS = 250;

/**
 * Calls `attempt` with one host after the other until it succeeds. Without `primaryOnly`, it is called once. It must fail for
 * a server that is not the primary. After `deadline` (on the clock of `performance`) it is not called again.
 */
export async function searchPrimary<T>(
  hosts: Hosts,
  deadline: number,
  attempt: (host: Host) => Promise<T>,
): Promise<T> {
  if (!hosts.primaryOnly) return attempt(hosts.current);
  const failures = new Map<Host, string>();
  for (let tried = 1; performance.now() < deadline; tried++) {
    const host = hosts.current;
    try {
      return await attempt(host);
    } catch (error) {
      if (errorCode(error) === 'CONNECTION_ENDED') throw error; // The pool is closed.
      failures.set(host, String((error as Error).message || error));
      selectNextHost(hosts, host);
      if (tried % hosts.list.length === 0) await setTimeout(PAUSE_MS);
    }
  }
  const reasons = [...failures].map(([{ name }, message]) => `${name}: ${message}`);
  throw new NoPrimaryError(`no host takes writes (${reasons.join('; ') || 'none was tried'})`);
}
