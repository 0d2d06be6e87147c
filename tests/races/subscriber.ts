import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Batch, readBatches, type SubscriberOptions, stateFile } from './subscriber-file.ts';

/**
 * Subscribes to the changes of a tenant from a process that may be killed at any moment. Each batch is appended to a file
 * together with its cursor; after a restart the subscriber resumes from the last cursor. The test sends the options over
 * IPC, and sends them again when the service has a new address.
 */

const path = '/system/change-api';
let options: SubscriberOptions | undefined;
let after = '0';
let lastError = '';
/** Ends a request to an address that the service no longer has: another test may have got the port, and never respond. */
let controller = new AbortController();

function resume({ file }: SubscriberOptions): void {
  const batches = readBatches(file);
  after = batches.at(-1)?.next ?? '0';
  fs.writeFileSync(`${file}.new`, batches.map((batch) => `${JSON.stringify(batch)}\n`).join(''));
  fs.renameSync(`${file}.new`, file);
}

function save({ file }: SubscriberOptions, batch: Batch): void {
  if (batch.next === after) return;
  fs.appendFileSync(file, `${JSON.stringify(batch)}\n`);
  after = batch.next;
}

async function poll(options: SubscriberOptions): Promise<void> {
  const response = await request(options, `?below=${options.below === true}&after=${after}&limit=20&wait=5`, {});
  save(options, ((await response.json()) as { data: Batch }).data);
}

async function readEvents(options: SubscriberOptions): Promise<void> {
  const response = await request(options, `/stream?below=${options.below === true}`, { 'last-event-id': after });
  let buffer = '';
  for await (const text of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (buffer + text).split('\n\n');
    buffer = events.pop() as string;
    for (const event of events) {
      const next = /^id: (.*)$/m.exec(event)?.[1] ?? after;
      const data = /^data: (.*)$/m.exec(event)?.[1];
      save(options, { rows: data ? [JSON.parse(data)] : [], next });
    }
  }
}

async function request(
  { base, token, file }: SubscriberOptions,
  rest: string,
  headers: Record<string, string>,
): Promise<Response> {
  fs.writeFileSync(stateFile(file), JSON.stringify({ base, after, requestedAt: new Date().toISOString(), lastError }));
  const { signal } = controller;
  const response = await fetch(`${base}${path}${rest}`, {
    headers: { authorization: `Bearer ${token}`, ...headers },
    signal,
  });
  if (!response.ok) throw new Error(await response.text());
  return response;
}

async function subscribe(): Promise<never> {
  for (;;) {
    const current = options as SubscriberOptions;
    // Retry while the service is down or busy: the test checks in the end that no change is missing.
    await (current.transport === 'polling' ? poll(current) : readEvents(current)).catch((error) => {
      lastError = `${error} ${error.cause ?? ''}`;
      return setTimeout(20);
    });
  }
}

process.on('message', (received: SubscriberOptions) => {
  const before = options;
  options = received;
  if (before && before.base !== received.base) {
    controller.abort();
    controller = new AbortController();
  }
  if (before) return;
  resume(received);
  subscribe();
});
// Exit with the test process, even if it ends early.
process.on('disconnect', () => process.exit());
