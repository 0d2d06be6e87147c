import net from 'node:net';

/**
 * Normalizes an address for counting. Some proxies append the port of each connection, which is left out. A client usually
 * has a whole /64 of IPv6 addresses, so they count as one. Texts that are no address count as one too: otherwise a client
 * whose proxy passes them on could choose a new one for each guess.
 */
export function addressKey(ip: string): string {
  const plain = ip
    .replace(/^\[(.*)\](:\d*)?$/, '$1')
    .replace(/^([\d.]+):\d*$/, '$1')
    .replace(/%.*$/, '');
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
