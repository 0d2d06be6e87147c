import type { RequestListener } from 'node:http';
import type { Server, Socket } from 'node:net';
import proxyAddr from '@fastify/proxy-addr';
import type { Config } from '../config.ts';
import type { Timing } from '../timing.ts';
import { addressKey } from './address.ts';
import type { Limits } from './limits.ts';
import type { TrackedResponse } from './tracked-response.ts';
import { isRejectedUpload } from './uploads.ts';

/**
 * The length of the operating system's queue of connections that are not accepted yet. Longer than the 511 of Node.js: if the
 * queue overflows, Linux lets clients connect and resets some of the connections later.
 */
export const BACKLOG = 4_096;

/** How many pipelined requests of a connection may wait before it is no longer read. */
const MAX_WAITING = 16;

/** How many further bytes of a rejected body are read: twice the size of the largest file. */
const MAX_DISCARDED = 104_857_600;

interface Connection {
  readonly socket: Socket;
  /** The client's address; PROXY for a trusted proxy, which many clients share. */
  readonly address: string;
  /** The response that is being prepared or sent. */
  current: TrackedResponse | null;
  /** Pipelined requests that wait for `current`, by their responses. */
  readonly waiting: TrackedResponse[];
  /** Runs once all requests that have arrived are answered: the next one could not be parsed. */
  afterLast: (() => void) | null;
  /** How many bytes had been read when the response to the previous request was complete. */
  readBefore: number;
  /** How many bytes the operating system has taken, and when this number last changed. */
  sentBytes: number;
  unchangedSince: number;
  /** Set while the rest of a rejected body is read, before the connection is closed. */
  discarding: { since: number; readBefore: number; readBytes: number } | null;
}

const PROXY = 'proxy';

/**
 * Keeps clients that send or read slowly, or not at all, from affecting others:
 * - Requests of a connection are processed one after the other. The next begins when the response before it is sent.
 * - A connection is closed when its client reads nothing for `stallMs`.
 * - A connection that is to be closed while a body is arriving is read for a limited time, so that its client gets the response.
 * - At the limit of connections, the address with the most of them makes room for a new one.
 * - At the limit of pipelined requests, unsent bytes or bytes of arriving bodies, a connection of the address with the most of
 *   them is closed.
 */
export class Connections {
  private readonly open = new Map<Socket, Connection>();
  private readonly byAddress = new Map<string, Set<Connection>>();
  private readonly limits: Limits;
  private readonly timing: Timing;
  private readonly isProxy: (address: string) => boolean;
  private handler: RequestListener = () => {};
  private waiting = 0;

  constructor({ trustProxy }: Config, timing: Timing, limits: Limits) {
    this.limits = limits;
    this.timing = timing;
    const isTrusted = trustProxy ? proxyAddr.compile(trustProxy.split(',').map((part) => part.trim())) : () => false;
    this.isProxy = (address) => isTrusted(address, 0);
  }

  /** Returns how many connections are open, and how many pipelined requests wait on them. */
  usage(): { open: number; waiting: number } {
    return { open: this.open.size, waiting: this.waiting };
  }

  /** Watches the connections of a server. `handler` gets its requests. */
  watch(server: Server, handler: RequestListener): void {
    this.handler = handler;
    server.on('connection', (socket: Socket) => this.add(socket));
    const { stallMs, lingerMs } = this.timing;
    const timer = setInterval(() => this.check(), Math.min(1_000, stallMs / 4, lingerMs / 2)).unref();
    server.on('close', () => clearInterval(timer));
  }

  /** Passes a request on, now or when those before it on its connection have been answered. */
  receive(response: TrackedResponse): void {
    const connection = this.open.get(response.req.socket);
    // The client has disconnected.
    if (!connection) return;
    // The last response has been sent. What the client sends after a rejected body must not be processed.
    if (connection.discarding) return void this.close(connection);
    if (!connection.current && connection.waiting.length === 0) {
      this.process(connection, response);
      return;
    }
    connection.waiting.push(response);
    if (connection.waiting.length >= MAX_WAITING) connection.socket.pause();
    if (++this.waiting > this.limits.pipelined) this.closeLargest(({ waiting }) => waiting.length);
  }

  /** Returns the request that is being processed on a connection while its body is still arriving. */
  requestArrivingOn(socket: Socket) {
    const request = this.open.get(socket)?.current?.req;
    return request?.complete ? undefined : request;
  }

  /** Runs `respond` once the requests that arrived before are answered: responses must be sent in order. */
  afterPending(socket: Socket, respond: () => void): void {
    const connection = this.open.get(socket);
    const hasPending = connection && (connection.current?.req.complete || connection.waiting.length > 0);
    if (hasPending) connection.afterLast = respond;
    else respond();
  }

  private process(connection: Connection, response: TrackedResponse): void {
    connection.current = response;
    // Node's own listener closes the connection. This one has to run before it.
    response.prependListener('finish', () => this.discardRest(connection, response));
    response.on('close', () => this.finish(connection, response));
    this.handler(response.req, response);
  }

  /**
   * Keeps a connection open for reading if its last response was sent before the body had arrived. Most clients send the whole body
   * before they read: if the connection were closed meanwhile, they would report a broken connection and not the error.
   */
  private discardRest(connection: Connection, response: TrackedResponse): void {
    const { socket } = connection;
    const { req } = response;
    const isLast = (response as unknown as { _last: boolean })._last;
    if (!isLast || req.complete || socket.destroyed) return;
    const now = performance.now();
    connection.discarding = { since: now, readBefore: socket.bytesRead, readBytes: socket.bytesRead };
    connection.unchangedSince = now;
    // Node calls this once, after this listener. It would close the connection for reading, too.
    socket.destroySoon = () => {
      Reflect.deleteProperty(socket, 'destroySoon');
      socket.end();
    };
    req.unpipe();
    req.once('end', () => socket.destroySoon()).resume();
  }

  /** Whether the rest of a rejected body is being read. Node's own timeout for requests does not apply to it. */
  isDiscarding(socket: Socket): boolean {
    return this.open.get(socket)?.discarding != null;
  }

  private finish(connection: Connection, response: TrackedResponse): void {
    response.release();
    if (connection.current !== response) return;
    connection.current = null;
    connection.readBefore = connection.socket.bytesRead;
    const { socket, waiting, afterLast } = connection;
    // Node has just resumed the connection.
    if (waiting.length >= MAX_WAITING) socket.pause();
    // Let other connections have their turn first.
    if (waiting.length > 0) setImmediate(() => this.processNext(connection));
    else if (afterLast) afterLast();
  }

  private processNext(connection: Connection): void {
    const next = connection.waiting.shift();
    if (!next) return;
    this.waiting--;
    const { socket, waiting } = connection;
    if (!socket.writable) {
      // A response with `Connection: close` was the last one. What the client sent after it must not be processed.
      this.close(connection);
      return;
    }
    if (waiting.length === MAX_WAITING - 1) socket.resume();
    this.process(connection, next);
  }

  private add(socket: Socket): void {
    const peer = socket.remoteAddress ?? '';
    const address = this.isProxy(peer) ? PROXY : addressKey(peer);
    if (this.open.size >= this.limits.connections && !this.makeRoom(address)) return void socket.destroy();
    const connection: Connection = {
      socket,
      address,
      current: null,
      waiting: [],
      afterLast: null,
      readBefore: 0,
      sentBytes: 0,
      unchangedSince: performance.now(),
      discarding: null,
    };
    this.open.set(socket, connection);
    const ofAddress = this.byAddress.get(address);
    if (ofAddress) ofAddress.add(connection);
    else this.byAddress.set(address, new Set([connection]));
    socket.once('close', () => this.remove(connection));
  }

  private remove(connection: Connection): void {
    const { socket, address, waiting, current } = connection;
    if (!this.open.delete(socket)) return;
    const ofAddress = this.byAddress.get(address);
    ofAddress?.delete(connection);
    if (ofAddress?.size === 0) this.byAddress.delete(address);
    this.waiting -= waiting.length;
    waiting.length = 0;
    current?.release();
  }

  private close(connection: Connection): void {
    connection.socket.destroy();
    // The `close` event comes later, and the place is needed now.
    this.remove(connection);
  }

  /**
   * Closes a connection of the address with the most of them. Returns false if that is the address of the new connection and
   * none of its connections is idle.
   */
  private makeRoom(newcomer: string): boolean {
    let most: Set<Connection> | undefined;
    for (const [address, connections] of this.byAddress) {
      // All clients of a proxy share its connections, so it has many for a good reason.
      if (address !== PROXY && connections.size > (most?.size ?? 0)) most = connections;
    }
    most ??= this.byAddress.get(PROXY);
    if (!most) return false;
    const idle = first(most, isIdle);
    if (idle) this.close(idle);
    else if (most !== this.byAddress.get(newcomer)) this.close(first(most) as Connection);
    else return false;
    return true;
  }

  /** Closes the largest connection of the address that has the most of something. Returns how much it had. */
  private closeLargest(sizeOf: (connection: Connection) => number): number {
    let [most, largest]: [number, Connection | undefined] = [0, undefined];
    for (const connections of this.byAddress.values()) {
      let [sum, candidate]: [number, Connection | undefined] = [0, undefined];
      for (const connection of connections) {
        const size = sizeOf(connection);
        sum += size;
        if (!candidate || size > sizeOf(candidate)) candidate = connection;
      }
      if (sum > most) [most, largest] = [sum, candidate];
    }
    if (!largest) return 0;
    const size = sizeOf(largest);
    this.close(largest);
    return size;
  }

  private check(): void {
    const now = performance.now();
    let unsentBytes = 0;
    let arrivingBytes = 0;
    for (const connection of this.open.values()) {
      const { socket } = connection;
      if (connection.discarding) {
        if (this.hasDiscardedEnough(connection, connection.discarding, now)) this.close(connection);
        continue;
      }
      unsentBytes += socket.writableLength;
      arrivingBytes += countArrivingBytes(connection);
      const sentBytes = countSentBytes(socket);
      const isDone = socket.writableLength === 0 && !socket.writableEnded;
      if (isDone || sentBytes !== connection.sentBytes) {
        connection.sentBytes = sentBytes;
        connection.unchangedSince = now;
        continue;
      }
      // A connection that the service has ended stays half open until the client ends it too.
      const limit = socket.writableLength > 0 ? this.timing.stallMs : this.timing.lingerMs;
      if (now - connection.unchangedSince >= limit) this.close(connection);
    }
    this.closeDownTo(this.limits.unsentBytes, unsentBytes, ({ socket }) => socket.writableLength);
    this.closeDownTo(this.limits.arrivingBytes, arrivingBytes, countArrivingBytes);
  }

  private hasDiscardedEnough(
    connection: Connection,
    discarding: NonNullable<Connection['discarding']>,
    now: number,
  ): boolean {
    const { bytesRead } = connection.socket;
    if (bytesRead !== discarding.readBytes) connection.unchangedSince = now;
    discarding.readBytes = bytesRead;
    const { lingerMs, requestMs, uploadMs } = this.timing;
    const limit = isRejectedUpload(connection.socket) ? uploadMs : requestMs;
    return (
      now - connection.unchangedSince >= lingerMs ||
      now - discarding.since >= limit ||
      bytesRead - discarding.readBefore > MAX_DISCARDED
    );
  }

  /** Closes connections until all of them together have no more bytes than the limit. */
  private closeDownTo(limit: number, bytes: number, sizeOf: (connection: Connection) => number): void {
    for (let left = bytes; left > limit; ) {
      const closed = this.closeLargest(sizeOf);
      if (closed === 0) return;
      left -= closed;
    }
  }
}

/**
 * Whether no request is being processed: none has arrived, the request is incomplete, or all that remains is for the client to
 * read the response.
 */
const isIdle = ({ current, waiting }: Connection): boolean =>
  waiting.length === 0 && (!current || current.writableEnded || !current.req.complete);

/** Counts the bytes of a request whose body is still arriving. */
const countArrivingBytes = ({ current, socket, readBefore }: Connection): number =>
  current && !current.req.complete ? socket.bytesRead - readBefore : 0;

/**
 * Counts the bytes that the operating system has taken. `writableLength` of a socket does not change until the whole of a
 * large response is sent, which takes a long time for a slow client; net.Socket uses the same figures for its own timeout.
 */
function countSentBytes(socket: Socket): number {
  const handle = (socket as { _handle?: { bytesWritten: number; writeQueueSize: number } | null })._handle;
  return handle ? handle.bytesWritten - handle.writeQueueSize : 0;
}

function first<T>(items: Iterable<T>, matches: (item: T) => boolean = () => true): T | undefined {
  for (const item of items) if (matches(item)) return item;
  return undefined;
}
