import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { ancestorsOf, emailOf } from './organization.ts';

/**
 * The process of the load generator. It uses raw sockets, each of which sends the next request as soon as it has a response,
 * so that it takes as little CPU time as possible. It checks every response: a wrong one aborts the run without a result.
 */

export interface LoadOptions {
  base: string;
  /** The request that each connection repeats. */
  request:
    | { type: 'path'; path: string }
    /** Reads a random one of `count` departments whose ids start at `firstId`. */
    | { type: 'department'; firstId: number; count: number }
    | { type: 'create'; parentId: number }
    /** With `keyed`, each request has a new Idempotency-Key. */
    | { type: 'consume'; quota: string; keyed?: boolean }
    | { type: 'login'; tenantId: string; username: string; password: string };
  token?: string;
  /** If set, each request uses a random one of these instead of `token`. */
  tokens?: string[];
  connections: number;
  ms: number;
}

export interface LoadResult {
  responses: number;
  perSecond: number;
  /** Response time in milliseconds. */
  p50: number;
  p99: number;
}

const DEPT = '/system/dept-api';
const CONSUME = '/system/quota-api/consume';

class Connection {
  private readonly socket: net.Socket;
  private readonly options: LoadOptions;
  /** Returns whether to send another request. */
  private readonly onResponse: (ms: number) => boolean;
  private readonly onError: (message: string) => void;
  /** Returns whether this is the first response with this id. */
  private readonly isNew: (id: string | undefined) => boolean;
  private sentAt = 0;
  private deptId = 0;
  private received = '';

  constructor(
    options: LoadOptions,
    onResponse: (ms: number) => boolean,
    onError: (message: string) => void,
    isNew: (id: string | undefined) => boolean,
  ) {
    this.options = options;
    this.isNew = isNew;
    this.onResponse = onResponse;
    this.onError = onError;
    const { hostname, port } = new URL(options.base);
    this.socket = net.connect(Number(port), hostname, () => this.send());
    this.socket.setNoDelay(true).setEncoding('latin1');
    this.socket.on('data', (chunk) => this.receive(String(chunk)));
    this.socket.on('error', ({ message }) => onError(message));
    this.socket.on('close', () => onError('a connection was closed'));
  }

  close() {
    this.socket.removeAllListeners('close').destroy();
  }

  private send() {
    const { request, tokens } = this.options;
    const token = tokens ? tokens[Math.floor(Math.random() * tokens.length)] : this.options.token;
    const authorization = token ? `Authorization: Bearer ${token}\r\n` : '';
    this.sentAt = performance.now();
    if (request.type === 'consume') {
      const body = `{"quota":"${request.quota}"}`;
      const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const key = request.keyed ? `Idempotency-Key: ${randomUUID()}\r\n` : '';
      this.socket.write(`POST ${CONSUME} HTTP/1.1\r\nHost: banyan\r\n${authorization}${key}${content}\r\n${body}`);
      return;
    }
    if (request.type === 'create' || request.type === 'login') {
      const { type, ...login } = request;
      const body =
        type === 'create'
          ? `{"parentId":${request.parentId},"deptName":"bench","orderNum":1,"leader":"Li","phone":"13800000000"}`
          : JSON.stringify(login);
      const content = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const path = type === 'create' ? DEPT : '/auth/login';
      this.socket.write(`POST ${path} HTTP/1.1\r\nHost: banyan\r\n${authorization}${content}\r\n${body}`);
      return;
    }
    this.deptId = request.type === 'department' ? request.firstId + Math.floor(Math.random() * request.count) : 0;
    const path = request.type === 'department' ? `${DEPT}/${this.deptId}` : request.path;
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: banyan\r\n${authorization}\r\n`);
  }

  private receive(chunk: string) {
    this.received += chunk;
    const end = this.received.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.received)?.[1] ?? 0);
    if (this.received.length < end + 4 + length) return;
    if (this.received.length > end + 4 + length) return this.onError(`more than one response: ${this.received}`);
    const response = this.received;
    this.received = '';
    if (!this.isCorrect(response)) return this.onError(`a wrong response: ${response}`);
    if (this.onResponse(performance.now() - this.sentAt)) this.send();
  }

  private isCorrect(response: string): boolean {
    if (!response.startsWith('HTTP/1.1 200 ')) return false;
    const { request } = this.options;
    if (request.type === 'create') return this.isNew(/\r\nlocation: [\w/-]+\/(\d+)\r\n/.exec(response)?.[1]);
    if (request.type === 'consume') return this.isNew(/"useId":(\d+)/.exec(response)?.[1]);
    if (request.type === 'login') return response.includes('"access_token":"ey');
    if (request.type === 'path') return response.includes('{"code":200,');
    const ancestors = ancestorsOf(request.firstId, this.deptId);
    return (
      response.includes(`"deptId":${this.deptId},`) &&
      response.includes(`"ancestors":"${ancestors}",`) &&
      response.includes(`"email":"${emailOf(this.deptId - request.firstId)}",`)
    );
  }
}

const run = (options: LoadOptions) =>
  new Promise<LoadResult>((resolve, reject) => {
    const times: number[] = [];
    let startedAt = performance.now();
    let finished = 0;
    const onResponse = (ms: number) => {
      times.push(ms);
      if (performance.now() - startedAt < options.ms) return true;
      if (++finished === connections.length) finish();
      return false;
    };
    const finish = () => {
      clearTimeout(timeout);
      const seconds = (performance.now() - startedAt) / 1000;
      for (const connection of connections) connection.close();
      times.sort((a, b) => a - b);
      const percentile = (part: number) => times[Math.ceil(times.length * part) - 1] as number;
      resolve({
        responses: times.length,
        perSecond: times.length / seconds,
        p50: percentile(0.5),
        p99: percentile(0.99),
      });
    };
    const onError = (message: string) => {
      clearTimeout(timeout);
      for (const connection of connections) connection.close();
      reject(new Error(message));
    };
    const timeout = setTimeout(() => onError('a request got no response'), options.ms + 30_000);
    const created = new Set<string>();
    const isNew = (id: string | undefined) => id !== undefined && created.size < created.add(id).size;
    startedAt = performance.now();
    const connections = Array.from(
      { length: options.connections },
      () => new Connection(options, onResponse, onError, isNew),
    );
  });

process.on('message', (options: LoadOptions) => {
  run(options).then(
    (result) => process.send?.(result),
    (error) => process.send?.({ error: (error as Error).message }),
  );
});
