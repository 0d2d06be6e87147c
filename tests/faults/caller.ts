import net from 'node:net';
import { Tally } from '../scale.ts';

/**
 * A crowd of callers in a process of its own, so that their work does not slow the service down more than it must. Told
 * over IPC what to ask and how fast; tells what came back.
 */

export interface Order {
  base: string;
  /** The whole request, as it goes over the wire. */
  request: string;
  connections: number;
  /** Requests a second, however the answers come. Without it each connection asks again once it was answered. */
  rate?: number;
  ms: number;
}

export interface Figures {
  seconds: number;
  sent: number;
  statuses: Record<string, number>;
  /** Requests whose connection ended before their answer. */
  lost: number;
  /** Not even sent, because all connections waited for an answer. */
  unsent: number;
  /** Refusals for now (429, 503) that don't say when to come again. */
  withoutRetryAfter: number;
  /** Milliseconds to the answer, by status: the middle one, 99 of 100, and the longest. */
  waits: Record<string, { p50: number; p99: number; max: number }>;
}

/** Requests are given up this long after the last was sent. */
const LAST_ANSWERS_MS = 15_000;

async function call({ base, request, connections, rate, ms }: Order): Promise<Figures> {
  const { hostname, port } = new URL(base);
  const bytes = Buffer.from(request);
  const idle: Caller[] = [];
  const statuses = new Tally();
  const waits: Record<string, number[]> = {};
  const figures = { sent: 0, lost: 0, unsent: 0, withoutRetryAfter: 0 };
  let underWay = 0;
  let asking = true;

  class Caller {
    readonly socket: net.Socket;
    private since = 0;
    private heard = '';

    constructor(socket: net.Socket) {
      this.socket = socket;
      socket.setNoDelay(true);
      socket.setEncoding('latin1');
      socket.on('data', (chunk) => this.hear(String(chunk)));
      socket.on('error', () => {});
      socket.on('close', () => {
        if (this.since === 0) return;
        underWay--;
        figures.lost++;
      });
    }

    ask() {
      this.since = performance.now();
      underWay++;
      figures.sent++;
      this.socket.write(bytes);
    }

    private hear(chunk: string) {
      this.heard += chunk;
      const end = this.heard.indexOf('\r\n\r\n');
      if (end < 0) return;
      const length = Number(/content-length: (\d+)/i.exec(this.heard)?.[1] ?? 0);
      if (this.heard.length < end + 4 + length) return;
      const status = this.heard.slice(9, 12);
      if ((status === '503' || status === '429') && !/\r\nretry-after: [1-9]/i.test(this.heard)) {
        figures.withoutRetryAfter++;
      }
      this.heard = '';
      statuses.add(status);
      waits[status] ??= [];
      waits[status].push(performance.now() - this.since);
      this.since = 0;
      underWay--;
      if (rate || !asking) idle.push(this);
      else this.ask();
    }
  }

  const callers = await Promise.all(Array.from({ length: connections }, () => connect(hostname, Number(port))));
  for (const socket of callers) idle.push(new Caller(socket));

  const began = performance.now();
  const passed = () => performance.now() - began;
  if (rate) {
    for (let due = 0; passed() < ms; await pause(2)) {
      const wanted = Math.floor((passed() / 1000) * rate);
      for (; due < wanted; due++) {
        const caller = idle.shift();
        if (caller) caller.ask();
        else figures.unsent++;
      }
    }
  } else {
    for (const caller of idle.splice(0)) caller.ask();
    await pause(ms);
  }
  asking = false;
  const seconds = passed() / 1000;
  for (const last = passed(); underWay > 0 && passed() - last < LAST_ANSWERS_MS; ) await pause(10);
  figures.lost += underWay;
  for (const socket of callers) socket.destroy();
  return { ...figures, seconds, statuses: statuses.counts, waits: summary(waits) };
}

const connect = (host: string, port: number) =>
  new Promise<net.Socket>((resolve, reject) => {
    const socket = net.connect(port, host, () => resolve(socket));
    socket.once('error', reject);
  });

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function summary(waits: Record<string, number[]>): Figures['waits'] {
  const entries = Object.entries(waits).map(([status, all]) => {
    const sorted = all.sort((a, b) => a - b);
    const at = (part: number) => Math.round(sorted[Math.ceil(sorted.length * part) - 1] as number);
    return [status, { p50: at(0.5), p99: at(0.99), max: at(1) }] as const;
  });
  return Object.fromEntries(entries);
}

process.on('message', async (order: Order) => process.send?.(await call(order)));
