import dns from 'node:dns/promises';
import net from 'node:net';
import { blockListOf } from '../http/address.ts';

/**
 * Restricts the addresses that webhooks may call. The administrators of any tenant choose the URLs, and the service
 * calls them from inside the operator's network. To prevent server-side request forgery, internal addresses are
 * rejected unless the operator lists them.
 */

/** Resolves a host name to its current addresses. */
export type Resolve = (name: string) => Promise<string[]>;

export interface Target {
  url: URL;
  /** The addresses that passed the check. The connection must go to one of these. */
  addresses: { address: string; family: 4 | 6 }[];
}

/** Also thrown for names that do not resolve: the error must not reveal which internal names exist. */
export class AddressError extends Error {}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** From the IANA registries of special-purpose addresses (RFC 6890 and its successors). */
const SPECIAL_PURPOSE = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, with the metadata services of clouds
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.88.99.0/24', // 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // benchmarking
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocol assignments, including Teredo, which embeds an IPv4 address
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4, which embeds an IPv4 address
  '3fff::/20', // documentation
];
/** Global unicast. It excludes ::1, ::ffff:a.b.c.d, 64:ff9b:: (NAT64), fc00::/7, fe80::/10, ff00::/8 … */
const PUBLIC_IPV6 = ['2000::/3'];

/** `networks` are the internal networks that the operator allows, as in `BANYAN_WEBHOOK_NETWORKS`. */
export function createTargetResolver(networks: readonly string[], resolve: Resolve = resolveName) {
  const loopback = blockListOf(LOOPBACK);
  const specialPurpose = blockListOf(SPECIAL_PURPOSE);
  const publicIpv6 = blockListOf(PUBLIC_IPV6);
  const allowed = blockListOf(networks.flatMap((network) => (network === 'loopback' ? LOOPBACK : network)));
  const contains = (list: net.BlockList, address: string) => list.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4');

  function isAllowed(address: string, protocol: string): boolean {
    // An address with a zone, such as fe80::1%eth0, is never public.
    if (net.isIP(address) === 0 || address.includes('%')) return false;
    if (contains(allowed, address)) return protocol === 'https:' || contains(loopback, address);
    return (
      protocol === 'https:' &&
      !contains(specialPurpose, address) &&
      (net.isIPv4(address) || contains(publicIpv6, address))
    );
  }

  /** Parses and resolves a URL. All of its addresses must be allowed, because the connection may go to any of them. */
  return async function resolveTarget(text: string): Promise<Target> {
    if (!URL.canParse(text)) throw new AddressError();
    const url = new URL(text);
    // Reject credentials in the URL: reads would show them, and they would be sent to the receiver.
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) throw new AddressError();
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const resolved = net.isIP(host) ? [host] : await resolve(host).catch(() => []);
    if (resolved.length === 0 || !resolved.every((address) => isAllowed(address, url.protocol)))
      throw new AddressError();
    return { url, addresses: resolved.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 })) };
  };
}

export type ResolveTarget = ReturnType<typeof createTargetResolver>;

/**
 * Queries DNS servers instead of calling getaddrinfo, which would block a thread of libuv's pool until a silent server
 * times out; passwords are hashed in the same pool. So entries in /etc/hosts are not used.
 */
async function resolveName(name: string): Promise<string[]> {
  if (/^(.+\.)?localhost\.?$/.test(name)) return ['127.0.0.1'];
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  const results = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return results.flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
}
