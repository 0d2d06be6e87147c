import net from 'node:net';
import type { Config } from '../config.ts';

/** The name of this deployment in its tokens, which is also the URL at which other services find its keys (RFC 8414). */
export interface Issuer {
  url(): string;
  /**
   * The issuer that tokens must have; empty without BANYAN_ISSUER. Then each node names its own address, and accepts the
   * tokens of nodes at other addresses: they are signed with keys of the same database.
   */
  readonly configured: string;
}

export function createIssuer(
  { issuer, host, port }: Pick<Config, 'issuer' | 'host' | 'port'>,
  listeningPort: () => number | undefined,
): Issuer {
  // Clients cannot use the wildcard address, so name the one that always works on this machine.
  const name = ['0.0.0.0', '::'].includes(host) ? 'localhost' : host;
  const address = `http://${net.isIPv6(name) ? `[${name}]` : name}`;
  return { configured: issuer, url: () => issuer || `${address}:${listeningPort() ?? port}` };
}
