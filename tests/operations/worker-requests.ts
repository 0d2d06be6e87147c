import http from 'node:http';
import net from 'node:net';
import { isAlive } from '../../db/embedded/processes.ts';
import { DURATIONS, type Scraped } from '../support/metrics.ts';
import type { Run } from '../support/process.ts';
import type { Client } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';

export const DEPTS = '/system/dept-api';
export const TWO_WORKERS = { BANYAN_WORKERS: '2', BANYAN_LOG_LEVEL: 'info' };

/** Returns the lines of the log, without a last line that is still incomplete. */
export const logLines = ({ stdout }: Run) => stdout.split('\n').slice(0, -1);

/** Returns the ids of the processes that have answered requests so far, according to the log. */
export const answeringPids = (run: Run) => {
  const lines = logLines(run).filter((line) => line.includes('"request completed"'));
  return new Set(lines.map((line) => JSON.parse(line).pid as number));
};

/** Returns a function that sends each request over a new connection, so that all workers get some. */
export const callOverNewConnections = ({ base, token }: Client) => {
  const agent = new http.Agent({ keepAlive: false });
  const call = (method: string, path: string, body?: unknown) =>
    new Promise<{ status: number; location: string; text: string }>((resolve, reject) => {
      const { hostname, port } = new URL(base);
      const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
      const request = http.request({ hostname, port, path, method, agent, headers }, (response) => {
        let text = '';
        response.on('data', (chunk) => (text += chunk));
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, location: String(response.headers.location), text }),
        );
      });
      request.on('error', reject);
      request.end(body ? JSON.stringify(body) : undefined);
    });
  return call;
};

/** Sends requests until this many live workers have answered. Returns their process ids. */
export const waitForAnswers = (of: Run, call: ReturnType<typeof callOverNewConnections>, workers: number) =>
  waitFor(`${workers} workers have answered`, async () => {
    await call('GET', '/health/live');
    const alive = [...answeringPids(of)].filter(isAlive);
    return alive.length === workers ? alive : undefined;
  });

export const metricsAddressOf = (run: Run) =>
  run.printed('Metrics').replace('localhost', '127.0.0.1').replace('/metrics', '');

export const countResponses = (scraped: Scraped, labels: Record<string, string>) =>
  scraped.sum(`${DURATIONS}_count`, labels) ?? 0;

/** Sends the text and half-closes the connection if `end`. Returns everything received until the server closes it. */
export async function sendText(port: number, host: string, text: string, end: boolean): Promise<string> {
  // allowHalfOpen: the socket must not close automatically when the server ends.
  const socket = net.connect({ host, port, allowHalfOpen: true });
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.on('end', () => socket.end());
  if (end) socket.end(text);
  else socket.write(text);
  await waitFor('the connection is closed', () => socket.closed);
  return received;
}
