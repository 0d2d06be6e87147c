import { QueryClient } from '@tanstack/react-query';
import { ApiError, NetworkError } from './http.ts';
import { session } from './session.ts';

const isOverloaded = (error: unknown) => error instanceof ApiError && error.status === 503;

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: {
      // connection.ts tracks the service itself; the browser only knows about its network interface.
      networkMode: 'always',
      staleTime: 10_000,
      // Retry network errors indefinitely: the connection banner tells the user, and the screen loads once the service
      // responds again.
      retry: (failureCount, error) => error instanceof NetworkError || (isOverloaded(error) && failureCount < 3),
      retryDelay: (failureCount) => Math.min(500 * 2 ** failureCount, 4000),
    },
    // request.ts retries writes itself, because every attempt must carry the same idempotency key.
    mutations: { networkMode: 'always', retry: false },
  },
});

// The next user of this tab must not see cached data of the previous one.
session.subscribe(() => session.get().state === 'loggedOut' && queryClient.clear());

let currentRoles: string | undefined;
// A changed role changes what the user may read. Refetch after the screens they lost access to have unmounted.
session.subscribe(() => {
  const current = session.get();
  const previousRoles = currentRoles;
  currentRoles = 'me' in current ? current.me.roles.join() : undefined;
  if (previousRoles !== undefined && currentRoles !== undefined && currentRoles !== previousRoles)
    setTimeout(() => queryClient.invalidateQueries());
});
