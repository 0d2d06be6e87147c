import fs from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { type Order, type Piece, readPieces } from './told.ts';

/**
 * Somebody who follows the changes of a tenant from a process of his own, which may be killed at any moment. What he was
 * told he keeps in a file, each piece together with the cursor behind it; begun again, he goes on from there. Told over
 * IPC whom to ask, and told again when the service has another address.
 */

const path = '/system/change-api';
let order: Order | undefined;
let after = '0';

function begin({ file }: Order): void {
  const pieces = readPieces(file);
  after = pieces.at(-1)?.next ?? '0';
  fs.writeFileSync(`${file}.new`, pieces.map((piece) => `${JSON.stringify(piece)}\n`).join(''));
  fs.renameSync(`${file}.new`, file);
}

function keep({ file }: Order, piece: Piece): void {
  if (piece.next === after) return;
  fs.appendFileSync(file, `${JSON.stringify(piece)}\n`);
  after = piece.next;
}

async function call(to: Order): Promise<void> {
  const answer = await ask(to, `?after=${after}&limit=20&wait=5`, {});
  keep(to, ((await answer.json()) as { data: Piece }).data);
}

async function listen(to: Order): Promise<void> {
  const answer = await ask(to, '/stream', { 'last-event-id': after });
  let heard = '';
  for await (const text of answer.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    const events = (heard + text).split('\n\n');
    heard = events.pop() as string;
    for (const event of events) {
      const next = /^id: (.*)$/m.exec(event)?.[1] ?? after;
      const data = /^data: (.*)$/m.exec(event)?.[1];
      keep(to, { rows: data ? [JSON.parse(data)] : [], next });
    }
  }
}

async function ask({ base, token }: Order, rest: string, headers: Record<string, string>): Promise<Response> {
  const answer = await fetch(`${base}${path}${rest}`, { headers: { authorization: `Bearer ${token}`, ...headers } });
  if (!answer.ok) throw new Error(await answer.text());
  return answer;
}

async function follow(): Promise<never> {
  for (;;) {
    const to = order as Order;
    // A service that is away, or busy, is asked again; what is missing in the end is what the test looks for.
    await (to.way === 'calls' ? call(to) : listen(to)).catch(() => setTimeout(20));
  }
}

process.on('message', (told: Order) => {
  const first = order === undefined;
  order = told;
  if (!first) return;
  begin(told);
  follow();
});
// Nobody is left behind by tests that end early.
process.on('disconnect', () => process.exit());
