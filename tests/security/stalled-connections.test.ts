import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { IncomingMessage } from 'node:http';
import type { Socket as NetSocket, Server } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { readConfig } from '../../server/config.ts';
import { Connections } from '../../server/http/connections.ts';
import { defaultLimits } from '../../server/http/limits.ts';
import { TrackedResponse } from '../../server/http/tracked-response.ts';
import { defaultTiming } from '../../server/timing.ts';

/** A socket with a large response of which the client has not read everything, as Node reports it. */
class Socket extends EventEmitter {
  remoteAddress = '127.0.0.1';
  bytesRead = 0;
  bytesWritten = 1_000_000;
  /** Does not change until the whole response is sent. */
  writableLength = 1_000_000;
  writableEnded = false;
  destroyed = false;
  _handle = { bytesWritten: 1_000_000, writeQueueSize: 1_000_000 };

  destroy() {
    this.destroyed = true;
    this.emit('close');
  }
}

test('a client that reads a large response slowly is not disconnected, and one that stops reading is', (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const stallMs = 20;
  const connections = new Connections(readConfig({}), { ...defaultTiming, stallMs }, defaultLimits);
  const server = new EventEmitter();
  connections.watch(server as Server, () => {});
  const [slow, stopped] = [new Socket(), new Socket()];
  for (const socket of [slow, stopped]) server.emit('connection', socket);
  /** Lets more than the stall limit pass, and then the interval of the check. */
  const nextCheck = () => {
    for (const end = performance.now() + 2 * stallMs; performance.now() < end; );
    t.mock.timers.tick(stallMs / 4);
  };
  for (let n = 0; n < 3; n++) {
    slow._handle.writeQueueSize -= 1_000;
    nextCheck();
    assert.equal(slow.destroyed, false);
  }
  assert.equal(stopped.destroyed, true);
  nextCheck();
  assert.equal(slow.destroyed, true, 'it has stopped reading too');
});

test('the error about a request that cannot be parsed comes after the responses to those before it', async () => {
  const connections = new Connections(readConfig({}), defaultTiming, defaultLimits);
  const server = new EventEmitter();
  const processed: unknown[] = [];
  connections.watch(server as Server, (_request, response) => processed.push(response));
  const socket = Object.assign(new Socket(), { writable: true }) as unknown as NetSocket;
  server.emit('connection', socket);
  const receive = () => {
    const response = new TrackedResponse(Object.assign(new IncomingMessage(socket), { complete: true }));
    connections.receive(response);
    return response;
  };
  const [first, second] = [receive(), receive()];
  // The first response has been sent; the second request is processed in the next turn of the event loop.
  first.emit('close');
  let rejected = false;
  connections.afterPending(socket, () => {
    rejected = true;
  });
  assert.equal(rejected, false);
  await setImmediate();
  assert.deepEqual(processed, [first, second]);
  second.emit('close');
  assert.equal(rejected, true);
  server.emit('close');
});
