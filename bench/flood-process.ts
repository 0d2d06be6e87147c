import { randomUUID } from 'node:crypto';
import http from 'node:http';
import os from 'node:os';

/**
 * A client that floods the service, in a separate process: it repeats requests of one kind over many connections as fast as it
 * can, and ignores errors and Retry-After. It runs until it is killed.
 */

export interface FloodOptions {
  base: string;
  token: string;
  tenantId: string;
  kind: FloodKind;
  /** A department with many descendants. */
  deptId: number;
}

export type FloodKind = keyof typeof floods;

interface Call {
  method: string;
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
}

const DEPT = '/system/dept-api';

/** The requests of each kind, and over how many connections they are sent. */
export const floods = {
  reads: { connections: 128, call: ({ deptId }) => ({ method: 'GET', path: `${DEPT}/${deptId}` }) },
  writes: {
    connections: 64,
    call: ({ deptId }) => ({ method: 'POST', path: DEPT, body: { parentId: deptId, deptName: 'flood' } }),
  },
  lists: { connections: 32, call: () => ({ method: 'GET', path: `${DEPT}/list?pageSize=500&withPath=true` }) },
  trees: { connections: 16, call: ({ deptId }) => ({ method: 'GET', path: `${DEPT}/tree?rootId=${deptId}` }) },
  streams: { connections: 1_500, call: () => ({ method: 'GET', path: '/system/change-api/stream' }) },
  webhooks: {
    connections: 8,
    call: ({ deptId }) => ({ method: 'POST', path: DEPT, body: { parentId: deptId, deptName: 'to be delivered' } }),
  },
  logins: {
    connections: 32,
    call: ({ tenantId }) => ({
      method: 'POST',
      path: '/auth/login',
      body: { tenantId, username: `user${Math.floor(Math.random() * 1e6)}`, password: 'a wrong password' },
    }),
  },
  idempotentWrites: {
    connections: 32,
    call: () => ({
      method: 'PUT',
      path: '/auth/password',
      headers: { 'idempotency-key': randomUUID() },
      body: { oldPassword: 'a wrong password', newPassword: 'another wrong one' },
    }),
  },
} satisfies Record<string, { connections: number; call: (options: FloodOptions) => Call }>;

function send(agent: http.Agent, options: FloodOptions, { method, path, body, headers }: Call): Promise<void> {
  const { hostname, port } = new URL(options.base);
  const text = body === undefined ? undefined : JSON.stringify(body);
  return new Promise((resolve) => {
    const request = http.request(
      {
        hostname,
        port,
        method,
        path,
        agent,
        headers: {
          authorization: `Bearer ${options.token}`,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
          ...headers,
        },
      },
      (response) => response.resume().on('close', resolve),
    );
    request.on('error', () => resolve());
    request.end(text);
  });
}

process.once('message', (options: FloodOptions) => {
  // The machine has few cores. The flood runs at the lowest priority, so that it does not slow the service down merely by using
  // up the CPU.
  os.setPriority(19);
  const { connections, call } = floods[options.kind];
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const repeat = async () => {
    for (;;) await send(agent, options, call(options));
  };
  for (let n = 0; n < connections; n++) void repeat();
});
