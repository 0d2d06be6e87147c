import { QueryClient } from '@tanstack/react-query';
import { ApiOffline, ApiRefusal } from './http.ts';
import { session } from './session.ts';

const passes = (error: unknown) => error instanceof ApiRefusal && error.status === 503;

/** What was read stays for a moment; what failed for want of a connection is asked again until there is one. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Whether there is a connection, connection.ts knows better than the browser.
      networkMode: 'always',
      staleTime: 10_000,
      retry: (failures, error) => error instanceof ApiOffline || (passes(error) && failures < 3),
      retryDelay: (failures) => Math.min(500 * 2 ** failures, 4000),
    },
    // Calls try again themselves, with the same key (calls.ts).
    mutations: { networkMode: 'always', retry: false },
  },
});

// Nothing of one person is left for the next.
session.follow(() => session.get().state === 'out' && queries.clear());

let roles: string | undefined;
// Whose role changed may read more than before, or less: anew, once the screens that are not his any more are gone.
session.follow(() => {
  const now = session.get();
  const before = roles;
  roles = 'me' in now ? now.me.roles.join() : undefined;
  if (before !== undefined && roles !== undefined && roles !== before) setTimeout(() => queries.invalidateQueries());
});
