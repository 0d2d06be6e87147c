import net from 'node:net';
import type { Answer } from './service.ts';

/** Bytes as they are, for requests that no HTTP client would send. Tells the last answer and the text of all of them. */
export async function sendRaw(base: string, ...pieces: (string | Buffer)[]): Promise<Answer & { all: string }> {
  const { port, hostname } = new URL(base);
  const chunks: Buffer[] = [];
  const socket = net.connect(Number(port), hostname);
  await new Promise<void>((resolve, reject) => {
    // Only turns a test that would hang into one that fails.
    socket.setTimeout(300_000, () => reject(new Error(`No end of the answer: ${Buffer.concat(chunks)}`)));
    socket.on('data', (chunk) => chunks.push(chunk));
    socket.on('close', () => resolve());
    // A server that has refused need not read on; what it said before counts.
    socket.on('error', () => resolve());
    for (const piece of pieces) socket.write(piece);
  }).finally(() => socket.destroy());
  return { all: Buffer.concat(chunks).toString(), ...lastAnswer(Buffer.concat(chunks).toString()) };
}

/** Sends a part of something and is gone. */
export const sendAndLeave = (base: string, sent: string): Promise<void> =>
  new Promise((resolve) => {
    const { port, hostname } = new URL(base);
    const socket = net.connect(Number(port), hostname, () => socket.write(sent, () => socket.destroy()));
    socket.on('close', () => resolve());
  });

/** Requests that end the connection, so that the end of the answer is seen. */
export const request = (line: string, ...headers: string[]) =>
  [`${line} HTTP/1.1`, 'Host: banyan', 'Connection: close', ...headers, '', ''].join('\r\n');

function lastAnswer(all: string): Answer {
  const last = all.slice(all.lastIndexOf('HTTP/1.1 '));
  const end = last.indexOf('\r\n\r\n');
  const [head, text] = [last.slice(0, end), last.slice(end + 4)];
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.split(':')[0]?.toLowerCase(), field.split(': ').slice(1).join(': ')]),
  );
  return { status: Number(line.split(' ')[1]), headers, text, code: 0, msg: '', data: undefined, ...parsed(text) };
}

function parsed(text: string) {
  try {
    const { code, msg, data } = JSON.parse(text);
    return { code, msg, data };
  } catch {
    return {};
  }
}
