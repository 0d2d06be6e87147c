// biome-ignore lint/style/noRestrictedImports: this is the wrapper that the rule asks for
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { recordWrites, type Write } from '../writes.ts';
import { useNotify } from './use-notify.ts';
import { useUndo } from './use-undo.ts';

interface Options<Input, Output> {
  mutationFn: (input: Input) => Promise<Output>;
  /** Shown with a button that undoes what was written, if the service can revert it. No text: no message. */
  successMessage?: string | ((output: Output, input: Input) => string | undefined);
  /** Query keys, or prefixes of them, that are refetched after success. See `affectedBy` in query-keys.ts. */
  invalidates?: readonly QueryKey[];
  onSuccess?: (output: Output, input: Input) => void;
  /** Returns true if it has handled the error. Otherwise the message of the service is shown. */
  onError?: (error: unknown, input: Input) => boolean;
}

/**
 * Runs a write of the console: shows an error, or a success message with a button to undo it, and invalidates queries. Only one
 * call runs at a time; a second call while it runs returns the promise of the first.
 */
export function useApiMutation<Input = void, Output = unknown>({
  mutationFn,
  successMessage,
  invalidates = [],
  onSuccess,
  onError,
}: Options<Input, Output>) {
  const notify = useNotify();
  const showUndo = useUndo();
  const queryClient = useQueryClient();
  // A ref instead of isPending: a second click can come before the next render.
  const running = useRef<Promise<Output>>(undefined);
  const writes = useRef<Write[]>([]);
  const {
    mutateAsync: runMutation,
    isPending,
    error,
    reset,
  } = useMutation<Output, unknown, Input>({
    mutationFn: async (input) => {
      const endRecording = recordWrites();
      try {
        return await mutationFn(input);
      } finally {
        writes.current = endRecording();
      }
    },
    onSuccess: (output, input) => {
      for (const queryKey of invalidates) void queryClient.invalidateQueries({ queryKey });
      const text = typeof successMessage === 'function' ? successMessage(output, input) : successMessage;
      if (text) showUndo(text, writes.current);
      onSuccess?.(output, input);
    },
    onError: (error, input) => {
      if (!onError?.(error, input)) notify.error(error);
    },
  });
  const mutateAsync = (input: Input): Promise<Output> => {
    running.current ??= runMutation(input).finally(() => {
      running.current = undefined;
    });
    return running.current;
  };
  // onError above has already handled the error.
  const mutate = (input: Input): void => void mutateAsync(input).catch(() => undefined);
  return { mutate, mutateAsync, isPending, error, reset };
}
