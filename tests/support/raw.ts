import net from 'node:net';
import { type ApiResponse, parseEnvelope } from './service.ts';

/** Sends raw bytes, for requests that no HTTP client would send. Returns the last response, and the text of all. */
export async function sendRaw(base: string, ...pieces: (string | Buffer)[]): Promise<ApiResponse & { all: string }> {
  const { port, hostname } = new URL(base);
  const chunks: Buffer[] = [];
  const socket = net.connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    // The timeout only ends a test that would hang.
    socket.setTimeout(300_000, () => reject(new Error(`The response does not end: ${Buffer.concat(chunks)}`)));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve());
    // A server that has rejected the request need not read the rest; its response before the error counts.
    socket.on('error', () => resolve());
    for (const piece of pieces) socket.write(piece);
  }).finally(() => socket.destroy());
  return { all: Buffer.concat(chunks).toString(), ...lastResponse(Buffer.concat(chunks).toString()) };
}

/** Sends a part of a request and disconnects. */
export const sendAndDisconnect = (base: string, sent: string): Promise<void> =>
  new Promise((resolve) => {
    const { port, hostname } = new URL(base);
    const socket = net.connect(Number(port), hostname, () => socket.write(sent, () => socket.destroy()));
    socket.on('close', () => resolve());
  });

/** Formats a request that closes the connection, so that the end of the response is visible. */
export const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: banyan', 'Connection: close', ...headers, '', ''].join('\r\n');

function lastResponse(all: string): ApiResponse {
  const last = all.slice(all.lastIndexOf('HTTP/1.1 '));
  const end = last.indexOf('\r\n\r\n');
  const [head, text] = [last.slice(0, end), last.slice(end + 4)];
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.split(':')[0]?.toLowerCase(), field.split(': ').slice(1).join(': ')]),
  );
  return { status: Number(line.split(' ')[1]), headers, text, ...parseEnvelope(text) };
}
