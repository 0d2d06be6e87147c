import type { CallOptions } from '../../client/src/call.ts';
import { streamChanges } from '../../client/src/feed.ts';
import type { Change } from '../../client/src/main.ts';
import type { Result } from '../../client/src/response.ts';
import { waitForConnection } from './connection.ts';
import { ApiError, isApiError } from './http.ts';
import { client } from './request.ts';
import { getAccessToken, renewToken } from './session.ts';
import { createPersistedStore } from './store.ts';

/** Whether the console shows the changes of others as they happen. */
export const liveUpdates = createPersistedStore<'on' | 'off'>('banyan.live', ['on', 'off'], () => 'on');

const PAUSE_MS = 3000;

type Call = (params: object, options: CallOptions) => Promise<Result>;

/**
 * Calls `onChange` for each change of the user's tenant, from now on. There is one connection, and only while the page is
 * visible: browsers allow six for all tabs. A page that becomes visible again gets what it has missed.
 */
export function followChanges(onChange: (change: Change) => void): () => void {
  let cursor: string | undefined;
  let controller: AbortController | undefined;

  async function follow(signal: AbortSignal): Promise<void> {
    cursor ??= (await client.readChanges({ after: 'latest', limit: 1 }, { signal })).data.next;
    const call = (name: 'readChanges' | 'streamChanges', params: object, options: CallOptions) =>
      (client as unknown as Record<string, Call>)[name]?.(params, options) as Promise<Result>;
    for await (const event of streamChanges(call, { after: cursor, signal })) {
      cursor = event.cursor;
      onChange(event.change);
    }
  }

  async function followUntilAborted(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        await follow(signal);
      } catch (error) {
        if (signal.aborted || isApiError(error, 'SESSION_ENDED')) return;
        // The user may no longer read the stream: their role has changed, or they must change their password. After
        // such an error, request.ts updates the session.
        if (isApiError(error, 'NOT_ALLOWED') || isApiError(error, 'PASSWORD_CHANGE_REQUIRED')) return;
        // The user or the tenant is no longer active. Renewing the token shows the reason and waits for the next login.
        if (error instanceof ApiError && error.status === 403)
          await renewToken(getAccessToken()).catch(() => undefined);
        await waitForConnection(PAUSE_MS);
      }
    }
  }

  const update = () => {
    if (document.visibilityState === 'visible' && !controller) {
      controller = new AbortController();
      void followUntilAborted(controller.signal);
    } else if (document.visibilityState === 'hidden') stop();
  };
  const stop = () => {
    controller?.abort();
    controller = undefined;
  };
  document.addEventListener('visibilitychange', update);
  update();
  return () => {
    document.removeEventListener('visibilitychange', update);
    stop();
  };
}
