import { once } from 'node:events';
import net from 'node:net';

/** Opens a connection to a service, without a request. */
export async function connect(base: string): Promise<net.Socket> {
  const { hostname, port } = new URL(base);
  const socket = net.connect(Number(port), hostname);
  await once(socket, 'connect');
  return socket.on('error', () => {}).resume();
}
