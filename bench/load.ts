import net from 'node:net';
import { ancestorsOf, emailOf } from './organization.ts';

/**
 * The load generator: bare sockets, each asking again as soon as it was answered, so that it takes as little of the
 * machine as a generator can. It checks every answer: one that isn't right ends the run without a figure.
 */

export interface Order {
  base: string;
  /** What each request asks for. */
  ask:
    | { what: 'path'; path: string }
    /** A department by chance, of `count` that begin with `firstId`. */
    | { what: 'department'; firstId: number; count: number }
    | { what: 'create'; parentId: number }
    | { what: 'login'; tenantId: string; username: string; password: string };
  token?: string;
  connections: number;
  ms: number;
}

export interface Figures {
  answers: number;
  aSecond: number;
  /** Milliseconds to the answer. */
  p50: number;
  p99: number;
}

const DEPT = '/system/dept-api';

class Caller {
  private readonly socket: net.Socket;
  private readonly order: Order;
  private readonly answered: (ms: number) => boolean;
  private readonly failed: (fault: string) => void;
  /** Told so for the first time. */
  private readonly isNew: (id: string | undefined) => boolean;
  private since = 0;
  private asked = 0;
  private heard = '';

  constructor(
    order: Order,
    answered: (ms: number) => boolean,
    failed: (fault: string) => void,
    isNew: (id: string | undefined) => boolean,
  ) {
    this.order = order;
    this.isNew = isNew;
    this.answered = answered;
    this.failed = failed;
    const { hostname, port } = new URL(order.base);
    this.socket = net.connect(Number(port), hostname, () => this.ask());
    this.socket.setNoDelay(true).setEncoding('latin1');
    this.socket.on('data', (chunk) => this.hear(String(chunk)));
    this.socket.on('error', ({ message }) => failed(message));
    this.socket.on('close', () => failed('a connection was closed'));
  }

  leave() {
    this.socket.removeAllListeners('close').destroy();
  }

  private ask() {
    const { ask, token } = this.order;
    const authorization = token ? `Authorization: Bearer ${token}\r\n` : '';
    this.since = performance.now();
    if (ask.what === 'create' || ask.what === 'login') {
      const { what, ...login } = ask;
      const body =
        what === 'create'
          ? `{"parentId":${ask.parentId},"deptName":"bench","orderNum":1,"leader":"Li","phone":"13800000000"}`
          : JSON.stringify(login);
      const type = `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n`;
      const path = what === 'create' ? DEPT : '/auth/login';
      this.socket.write(`POST ${path} HTTP/1.1\r\nHost: banyan\r\n${authorization}${type}\r\n${body}`);
      return;
    }
    this.asked = ask.what === 'department' ? ask.firstId + Math.floor(Math.random() * ask.count) : 0;
    const path = ask.what === 'department' ? `${DEPT}/${this.asked}` : ask.path;
    this.socket.write(`GET ${path} HTTP/1.1\r\nHost: banyan\r\n${authorization}\r\n`);
  }

  private hear(chunk: string) {
    this.heard += chunk;
    const end = this.heard.indexOf('\r\n\r\n');
    if (end < 0) return;
    const length = Number(/content-length: (\d+)/i.exec(this.heard)?.[1] ?? 0);
    if (this.heard.length < end + 4 + length) return;
    if (this.heard.length > end + 4 + length) return this.failed(`more than one answer: ${this.heard}`);
    const answer = this.heard;
    this.heard = '';
    if (!this.isRight(answer)) return this.failed(`a wrong answer: ${answer}`);
    if (this.answered(performance.now() - this.since)) this.ask();
  }

  private isRight(answer: string): boolean {
    if (!answer.startsWith('HTTP/1.1 200 ')) return false;
    const { ask } = this.order;
    if (ask.what === 'create') return this.isNew(/\r\nlocation: [\w/-]+\/(\d+)\r\n/.exec(answer)?.[1]);
    if (ask.what === 'login') return answer.includes('"access_token":"ey');
    if (ask.what === 'path') return answer.includes('{"code":200,');
    const ancestors = ancestorsOf(ask.firstId, this.asked);
    return (
      answer.includes(`"deptId":${this.asked},`) &&
      answer.includes(`"ancestors":"${ancestors}",`) &&
      answer.includes(`"email":"${emailOf(this.asked - ask.firstId)}",`)
    );
  }
}

const run = (order: Order) =>
  new Promise<Figures>((resolve, reject) => {
    const waits: number[] = [];
    let began = performance.now();
    let leaving = 0;
    const answered = (ms: number) => {
      waits.push(ms);
      if (performance.now() - began < order.ms) return true;
      if (++leaving === callers.length) finish();
      return false;
    };
    const finish = () => {
      clearTimeout(patience);
      const seconds = (performance.now() - began) / 1000;
      for (const caller of callers) caller.leave();
      waits.sort((a, b) => a - b);
      const at = (part: number) => waits[Math.ceil(waits.length * part) - 1] as number;
      resolve({ answers: waits.length, aSecond: waits.length / seconds, p50: at(0.5), p99: at(0.99) });
    };
    const failed = (fault: string) => {
      clearTimeout(patience);
      for (const caller of callers) caller.leave();
      reject(new Error(fault));
    };
    const patience = setTimeout(() => failed('somebody was not answered'), order.ms + 30_000);
    const made = new Set<string>();
    const isNew = (id: string | undefined) => id !== undefined && made.size < made.add(id).size;
    began = performance.now();
    const callers = Array.from({ length: order.connections }, () => new Caller(order, answered, failed, isNew));
  });

process.on('message', (order: Order) => {
  run(order).then(
    (figures) => process.send?.(figures),
    (error) => process.send?.({ fault: (error as Error).message }),
  );
});
