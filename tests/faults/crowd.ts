import { fork } from 'node:child_process';
import { once } from 'node:events';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Client } from '../harness.ts';
import type { Figures, Order } from './caller.ts';

const crowd = fork(fileURLToPath(new URL('./caller.js', import.meta.url)), { execArgv: [] });
after(() => crowd.kill());

/** Many calls at once from another process; one crowd at a time. */
export async function callTogether(order: Order): Promise<Figures> {
  crowd.send(order);
  const [figures] = await once(crowd, 'message');
  return figures as Figures;
}

/** A request of this client as it goes over the wire. */
export function wire({ base, token }: Client, method: string, path: string, body?: unknown): string {
  const text = body === undefined ? '' : JSON.stringify(body);
  const head = [`${method} ${path} HTTP/1.1`, `Host: ${new URL(base).host}`];
  if (token) head.push(`Authorization: Bearer ${token}`);
  if (text) head.push('Content-Type: application/json', `Content-Length: ${Buffer.byteLength(text)}`);
  return `${head.join('\r\n')}\r\n\r\n${text}`;
}
