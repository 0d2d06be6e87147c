import type { ImportResult } from '../api.ts';
import { assertSuccess, type Envelope, NetworkError } from '../http.ts';

/** Reads the events of an import until its result arrives. */
export async function readEvents(response: Response, onProgress: (percent: number) => void): Promise<ImportResult> {
  // An import that ended at once has a plain response.
  if (!response.headers.get('content-type')?.startsWith('text/event-stream'))
    return ((await response.json()) as { data: ImportResult }).data;
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  for (;;) {
    const { done, value } = (await reader?.read().catch(lostConnection)) ?? { done: true, value: undefined };
    if (done) throw new NetworkError('');
    const events = (text + value).split('\n\n');
    text = events.pop() ?? '';
    for (const event of events) {
      const [, name, data] = /^event: (\w+)\ndata: (.*)$/s.exec(event) ?? [];
      if (data === undefined) continue;
      if (name === 'progress') {
        const { done, total } = JSON.parse(data) as { done: number; total: number };
        onProgress(total === 0 ? 0 : Math.floor((done / total) * 100));
        continue;
      }
      const envelope = JSON.parse(data) as Envelope;
      assertSuccess(envelope);
      return envelope.data as ImportResult;
    }
  }
}

function lostConnection(cause: unknown): never {
  throw new NetworkError('', { cause });
}
