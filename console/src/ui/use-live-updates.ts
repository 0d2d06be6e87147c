import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { Change } from '../../../client/src/main.ts';
import { api } from '../api.ts';
import { followChanges, liveUpdates } from '../live.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { useIsAdministrator } from '../session.ts';
import { useStore } from '../store.ts';
import { isOwnWrite } from '../writes.ts';
import { markChanged } from './recent-changes.ts';
import { reloadTrees } from './tree-reloads.ts';

/** Changes that arrive within COLLECT_MS cause one refetch, and many changes, such as an import, one per MIN_INTERVAL_MS. */
const COLLECT_MS = 200;
const MIN_INTERVAL_MS = 2000;
/**
 * How often the session of a member is checked. Administrators learn from the stream that their session has ended, but members
 * may not read it.
 */
const CHECK_MS = 30_000;

const AFFECTED: Partial<Record<Change['resource'], readonly QueryKey[]>> = {
  department: affectedBy.departments,
  user: affectedBy.users,
  tenant: affectedBy.tenants,
  quota: affectedBy.quotas,
};

/** Shows what changes outside this tab, without a reload. Open forms keep what they were filled with. */
export function useLiveUpdates(): void {
  const enabled = useStore(liveUpdates) === 'on';
  const administrator = useIsAdministrator();
  const queryClient = useQueryClient();
  useEffect(() => {
    if (!enabled || !administrator) return;
    const refetches = collectRefetches((queryKey) => void queryClient.invalidateQueries({ queryKey }));
    const unfollow = followChanges((change) => {
      if (isOwnWrite(change.requestId)) return;
      refetches.add(change);
      markChanged(change.resource, change.resourceId, change.by);
    });
    return () => {
      unfollow();
      refetches.cancel();
    };
  }, [enabled, administrator, queryClient]);
  useEffect(() => {
    if (!enabled || administrator) return;
    // A rejected request shows that the session has ended.
    const check = () => document.visibilityState === 'visible' && void api.readMe().catch(() => undefined);
    const timer = setInterval(check, CHECK_MS);
    return () => clearInterval(timer);
  }, [enabled, administrator]);
}

/** Collects changes for a moment, then refetches what they affect. */
function collectRefetches(refetch: (queryKey: QueryKey) => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let lastFlush = 0;
  let changes: Change[] = [];
  const flush = () => {
    timer = undefined;
    lastFlush = Date.now();
    const collected = changes;
    changes = [];
    const affected = collected.flatMap(({ resource }) => AFFECTED[resource] ?? []);
    for (const queryKey of new Set<QueryKey>([queryKeys.changes.all, ...affected])) refetch(queryKey);
    const departments = collected.flatMap(departmentsOf);
    if (departments.length > 0) reloadTrees(new Set(departments));
  };
  return {
    add(change: Change) {
      changes.push(change);
      timer ??= setTimeout(flush, Math.max(COLLECT_MS, lastFlush + MIN_INTERVAL_MS - Date.now()));
    },
    cancel: () => clearTimeout(timer),
  };
}

/** The departments in which a change shows: those that had or have the changed department or user in them. */
function departmentsOf({ resource, before, after }: Change): number[] {
  const states = [before, after] as ({ parentId?: number; deptId?: number | null; deptIds?: number[] } | null)[];
  if (resource === 'department') return states.flatMap((state) => (state ? Number(state.parentId ?? 0) : []));
  if (resource !== 'user') return [];
  return states.flatMap((state) => [state?.deptId ?? 0, ...(state?.deptIds ?? [])]).filter((id) => id !== 0);
}
