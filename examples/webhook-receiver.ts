// Receives webhooks and verifies them (Standard Webhooks). It prints each message once.
//
//   BANYAN_WEBHOOK_SECRET=whsec_… PORT=9000 node examples/webhook-receiver.ts
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { required } from './banyan.ts';

const secret = Buffer.from(required('BANYAN_WEBHOOK_SECRET').replace(/^whsec_/, ''), 'base64');
const MAX_BYTES = 10_000_000;
/** A message that is older may have been recorded and sent again by somebody else. */
const MAX_AGE_SECONDS = 300;

// A message may arrive more than once. A real receiver stores the ids in the transaction that stores the effect.
const seen = new Set<string>();

const server = createServer(async (request, response) => {
  const body = await readBody(request);
  if (!body || !isGenuine(request, body)) return response.writeHead(401).end();
  const id = String(request.headers['webhook-id']);
  if (!seen.has(id)) {
    const { type, data } = JSON.parse(body.toString());
    console.log(`${type} ${data?.resourceId ?? ''}`.trim());
    seen.add(id);
  }
  // Respond with any 2xx status within 10 seconds; leave long work to a queue. Banyan retries after other statuses, except that
  // 410 disables the webhook.
  return response.writeHead(204).end();
});
server.listen(Number(process.env.PORT ?? 9000), () => {
  console.log(`Listening on http://localhost:${(server.address() as AddressInfo).port}`);
});

/** Verifies the signature over the unmodified bytes. During a rotation there are two signatures; one must match. */
function isGenuine({ headers }: IncomingMessage, body: Buffer): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (Math.abs(Date.now() / 1000 - Number(timestamp)) > MAX_AGE_SECONDS) return false;
  const expected = createHmac('sha256', secret).update(`${id}.${timestamp}.`).update(body).digest();
  return String(signatures)
    .split(' ')
    .some((signature) => {
      const given = Buffer.from(signature.replace(/^v1,/, ''), 'base64');
      return given.length === expected.length && timingSafeEqual(given, expected);
    });
}

async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
