import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useNotices } from './notices.ts';

interface Action<In, Out> {
  /** The call. What it throws is shown in the service's own words. */
  run: (input: In) => Promise<Out>;
  /** Said when it is done. */
  done?: string | ((out: Out, input: In) => string);
  /** What is read anew afterwards; the keys as the queries have them, or their beginnings. */
  changes?: QueryKey[];
  /** What follows when it is done, such as to close the dialog. */
  after?: (out: Out, input: In) => void;
  /** Returns true when it has dealt with the refusal itself, such as with a dialog that offers a way onward. */
  refused?: (error: unknown, input: In) => boolean;
}

/**
 * Every write of a screen: progress by `busy`, then success or the reason, and what it changed is read anew. One at a time:
 * who asks again while it runs gets what is running.
 */
export function useAction<In = void, Out = unknown>({ run, done, changes = [], after, refused }: Action<In, Out>) {
  const notices = useNotices();
  const queries = useQueryClient();
  // Not `busy`: a second click may come before the screen knows of the first.
  const running = useRef<Promise<Out>>(undefined);
  const { mutateAsync, isPending, error, reset } = useMutation<Out, unknown, In>({
    mutationFn: run,
    onSuccess: (out, input) => {
      for (const queryKey of changes) void queries.invalidateQueries({ queryKey });
      if (done) notices.done(typeof done === 'function' ? done(out, input) : done);
      after?.(out, input);
    },
    onError: (error, input) => {
      if (!refused?.(error, input)) notices.failed(error);
    },
  });
  const runOnce = (input: In): Promise<Out> => {
    running.current ??= mutateAsync(input).finally(() => {
      running.current = undefined;
    });
    return running.current;
  };
  // Its refusal was dealt with above.
  const start = (input: In): void => void runOnce(input).catch(() => undefined);
  return { start, run: runOnce, busy: isPending, error, reset };
}
