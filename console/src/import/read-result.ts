import { readEvents } from '../../../client/src/events.ts';
import { type Envelope, openEnvelope } from '../../../client/src/response.ts';
import type { ImportResult } from '../api.ts';
import { ApiError, NetworkError } from '../http.ts';

/** The service reports no progress while it compares the file with what is stored, which can take long for a large one. */
const IDLE_MS = 900_000;

/** Reads the events of an import until its result arrives. */
export async function readResult(
  sent: Response | ImportResult,
  onProgress: (percent: number) => void,
): Promise<ImportResult> {
  if (!(sent instanceof Response)) return sent;
  try {
    for await (const { event, data } of readEvents(sent.body as ReadableStream<Uint8Array>, IDLE_MS)) {
      if (event !== 'progress') return openEnvelope(JSON.parse(data) as Envelope, sent.headers) as ImportResult;
      const { done, total } = JSON.parse(data) as { done: number; total: number };
      onProgress(total === 0 ? 0 : Math.floor((done / total) * 100));
    }
  } catch (error) {
    throw error instanceof ApiError ? error : new NetworkError('', { cause: error });
  }
  throw new NetworkError('');
}
