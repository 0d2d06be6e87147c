import net from 'node:net';
import { createCache } from '../cache.ts';

/**
 * Normalizes an address for counting. Some proxies append the port of each connection, which is left out. A client usually has a
 * whole /64 of IPv6 addresses, so they count as one. Strings that are not addresses count as one address too: otherwise a client
 * whose proxy passes them on could choose a new one for each guess.
 */
export function addressKey(ip: string): string {
  const plain = withoutPort(ip);
  if (net.isIPv4(plain)) return plain;
  if (!net.isIPv6(plain)) return UNKNOWN_ADDRESS;
  const canonical = new URL(`http://[${plain}]`).hostname.slice(1, -1);
  const mapped = /^::ffff:([\da-f]+):([\da-f]+)$/.exec(canonical)?.slice(1);
  if (mapped)
    return mapped.flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255]).join('.');
  const [head = [], tail = []] = canonical.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array(8 - head.length - tail.length).fill('0');
  return `${[...head, ...zeros, ...tail].slice(0, 4).join(':')}::/64`;
}
const UNKNOWN_ADDRESS = 'unknown';

const withoutPort = (ip: string): string =>
  ip
    .replace(/^\[(.*)\](:\d*)?$/, '$1')
    .replace(/^([\d.]+):\d*$/, '$1')
    .replace(/%.*$/, '');

/** Whether a text is an address or a network in CIDR notation, of IPv4 or IPv6. */
export function isNetwork(text: string): boolean {
  const [address = '', bits = '0', ...rest] = text.split('/');
  const maxBits = { 4: 32, 6: 128 }[net.isIP(address)] ?? -1;
  // A zone, as in fe80::1%eth0, is not part of a network.
  return /^(0|[1-9]\d{0,2})$/.test(bits) && Number(bits) <= maxBits && rest.length === 0 && !text.includes('%');
}

/** Builds a `BlockList` of networks, for each of which `isNetwork` holds. */
export function blockListOf(networks: readonly string[]): net.BlockList {
  const list = new net.BlockList();
  for (const network of networks) {
    const [address = '', bits] = network.split('/');
    const [family, maxBits] = net.isIPv6(address) ? (['ipv6', 128] as const) : (['ipv4', 32] as const);
    list.addSubnet(address, Number(bits ?? maxBits), family);
  }
  return list;
}

/** Whether the address of a client is in one of the networks. A text that is not an address is in no network. */
export function isInNetworks(ip: string, networks: readonly string[]): boolean {
  const plain = withoutPort(ip);
  const family = net.isIP(plain);
  if (family === 0) return false;
  const name = networks.join();
  const list = blockLists.get(name) ?? blockListOf(networks);
  blockLists.set(name, list);
  return list.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}
const blockLists = createCache<net.BlockList>(1_000);
