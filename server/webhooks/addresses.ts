import dns from 'node:dns/promises';
import net from 'node:net';

/**
 * Which addresses a webhook may lead to. Whoever registers one makes the service itself call there, from inside the
 * network it stands in; so nothing inside is called unless the operator lists it.
 */

/** Where a name leads, at this moment. */
export type Resolve = (name: string) => Promise<string[]>;

export interface Target {
  url: URL;
  /** Those that were looked at; nothing else may be connected to. */
  addresses: { address: string; family: 4 | 6 }[];
}

/** Not told apart from a name that leads nowhere: who may not call inside, learns nothing of the names there either. */
export class AddressRefused extends Error {}

const LOOPBACK = ['127.0.0.0/8', '::1/128'];

/** By the registries of special addresses (RFC 6890 and what followed). */
const INNER = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // behind a carrier's NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, where clouds tell their secrets
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocols
  '192.0.2.0/24', // examples
  '192.88.99.0/24', // 6to4
  '192.168.0.0/16', // private
  '198.18.0.0/15', // measuring
  '198.51.100.0/24', // examples
  '203.0.113.0/24', // examples
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
  '2001::/23', // protocols, Teredo among them, which holds an IPv4 address
  '2001:db8::/32', // examples
  '2002::/16', // 6to4, which holds an IPv4 address
  '3fff::/20', // examples
];
/** All IPv6 that is public. Outside are ::1, ::ffff:a.b.c.d, 64:ff9b:: (NAT64), fc00::/7, fe80::/10, ff00::/8 … */
const PUBLIC_IPV6 = ['2000::/3'];

/** `networks`: those inside that may be called all the same, as the setting lists them. */
export function makeAddressBook(networks: readonly string[], resolve: Resolve = resolveName) {
  const loopback = listOf(LOOPBACK);
  const inner = listOf(INNER);
  const publicIpv6 = listOf(PUBLIC_IPV6);
  const allowed = listOf(networks.flatMap((network) => (network === 'loopback' ? LOOPBACK : network)));
  const holds = (list: net.BlockList, address: string) => list.check(address, net.isIPv6(address) ? 'ipv6' : 'ipv4');

  function mayCall(address: string, protocol: string): boolean {
    // A scope, as in fe80::1%eth0, is never public.
    if (net.isIP(address) === 0 || address.includes('%')) return false;
    if (holds(allowed, address)) return protocol === 'https:' || holds(loopback, address);
    return protocol === 'https:' && !holds(inner, address) && (net.isIPv4(address) || holds(publicIpv6, address));
  }

  /** Where it leads now. All of its addresses must be allowed: which of them is taken is left to chance. */
  return async function lookUp(text: string): Promise<Target> {
    if (!URL.canParse(text)) throw new AddressRefused();
    const url = new URL(text);
    // What is written there would be shown, and sent to whoever the name leads to.
    if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.hash) throw new AddressRefused();
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const found = net.isIP(host) ? [host] : await resolve(host).catch(() => []);
    if (found.length === 0 || !found.every((address) => mayCall(address, url.protocol))) throw new AddressRefused();
    return { url, addresses: found.map((address) => ({ address, family: net.isIPv6(address) ? 6 : 4 })) };
  };
}

export type LookUp = ReturnType<typeof makeAddressBook>;

/** As the settings have checked them. */
function listOf(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const [family, most] = net.isIPv6(address) ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
    list.addSubnet(address, Number(bits ?? most), family);
  }
  return list;
}

/**
 * By asking name servers, not as the operating system would: that blocks one of the few threads which also hash
 * passwords, for as long as a name server is silent. So names of /etc/hosts are not known.
 */
async function resolveName(name: string): Promise<string[]> {
  if (/^(.+\.)?localhost\.?$/.test(name)) return ['127.0.0.1'];
  const resolver = new dns.Resolver({ timeout: 2_000, tries: 2 });
  const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  return found.flatMap((one) => (one.status === 'fulfilled' ? one.value : []));
}
