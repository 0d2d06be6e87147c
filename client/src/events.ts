import { NetworkError } from './errors.ts';

/** A server-sent event. One without `data` only advances the cursor. */
export interface ServerSentEvent {
  id: string | undefined;
  event: string;
  data: string;
}

/**
 * Parses server-sent events (HTML standard, section 9.2). An event that was cut off is dropped: a feed receives it
 * again.
 */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  idleMs: number,
): AsyncGenerator<ServerSentEvent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    for (;;) {
      const { done, value } = await readWithin(reader, idleMs);
      if (done) return;
      text += decoder.decode(value, { stream: true });
      // A carriage return at the end may be the first half of a line break.
      const blocks = text.replace(/\r\n|\r(?!$)/g, '\n').split('\n\n');
      text = blocks.pop() ?? '';
      for (const block of blocks) {
        const event = parseEvent(block);
        if (event) yield event;
      }
    }
  } finally {
    // Closes the connection when the caller stops reading.
    await reader.cancel().catch(() => {});
  }
}

/**
 * Fails if nothing arrives within `idleMs`: the connection is then dead. On the stream of changes, the service sends a
 * comment at least every 15 seconds.
 */
async function readWithin(reader: ReadableStreamDefaultReader<Uint8Array>, idleMs: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const idle = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new NetworkError('The stream is silent.')), idleMs);
  });
  try {
    return await Promise.race([reader.read(), idle]);
  } finally {
    clearTimeout(timer);
  }
}

function parseEvent(block: string): ServerSentEvent | undefined {
  const event: ServerSentEvent = { id: undefined, event: 'message', data: '' };
  const data: string[] = [];
  for (const line of block.split('\n')) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
    if (field === 'id') event.id = value;
    if (field === 'event') event.event = value;
    if (field === 'data') data.push(value);
  }
  event.data = data.join('\n');
  return data.length > 0 || event.id !== undefined ? event : undefined;
}
