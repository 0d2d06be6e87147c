import { test } from 'node:test';
import { send } from '../../server/webhooks/sending.ts';
import { Receiver } from '../support/receiver.ts';
import { waitFor } from '../support/wait.ts';

test('a delivery has succeeded once the status has arrived in time, even if the body never ends', async () => {
  const receiver = await Receiver.start((_received, response) => {
    response.writeHead(200).flushHeaders();
    return undefined;
  });
  const resolveTarget = async (url: string) => ({
    url: new URL(url),
    addresses: [{ address: '127.0.0.1', family: 4 as const }],
  });
  const message = { id: 'msg_1', url: receiver.url, body: '{}', secrets: [] };
  const { signal } = new AbortController();
  // The body gets a second. On a busy machine, the status may not arrive within half a second at the first attempt.
  await waitFor('the status decides the outcome', async () => {
    const { status } = await send(resolveTarget, message, 500, signal);
    return status === 200;
  });
});
