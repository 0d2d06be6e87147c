// biome-ignore lint/style/noRestrictedImports: this is the wrapper that the rule asks for
import { type QueryKey, useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { useNotify } from './use-notify.ts';

interface Options<Input, Output> {
  mutationFn: (input: Input) => Promise<Output>;
  successMessage?: string | ((output: Output, input: Input) => string);
  /** Query keys, or prefixes of them, that are refetched after success. See `affectedBy` in query-keys.ts. */
  invalidates?: readonly QueryKey[];
  onSuccess?: (output: Output, input: Input) => void;
  /** Returns true if it has handled the error. Otherwise the message of the service is shown. */
  onError?: (error: unknown, input: Input) => boolean;
}

/**
 * Runs a write of the console: shows a success or error message and invalidates queries. Only one call runs at a time;
 * a second call while it runs returns the promise of the first.
 */
export function useApiMutation<Input = void, Output = unknown>({
  mutationFn,
  successMessage,
  invalidates = [],
  onSuccess,
  onError,
}: Options<Input, Output>) {
  const notify = useNotify();
  const queryClient = useQueryClient();
  // A ref instead of isPending: a second click can come before the next render.
  const running = useRef<Promise<Output>>(undefined);
  const {
    mutateAsync: runMutation,
    isPending,
    error,
    reset,
  } = useMutation<Output, unknown, Input>({
    mutationFn,
    onSuccess: (output, input) => {
      for (const queryKey of invalidates) void queryClient.invalidateQueries({ queryKey });
      if (successMessage)
        notify.success(typeof successMessage === 'function' ? successMessage(output, input) : successMessage);
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
