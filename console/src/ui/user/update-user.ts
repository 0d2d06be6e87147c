import type { QueryClient } from '@tanstack/react-query';
import { api, type User, type UserUpdate } from '../../api.ts';
import { isApiError } from '../../http.ts';
import { queryKeys } from '../../query-keys.ts';
import { sessionGuard } from '../../session.ts';
import { isSameInput } from '../record-diff.ts';

export const getDisplayName = ({ nickName, userName }: Pick<User, 'nickName' | 'userName'>) => nickName || userName;

export type UserPatch = Partial<Pick<UserUpdate, 'deptId' | 'deptIds' | 'status' | 'password' | 'mustChangePassword'>>;

/**
 * Applies a patch to the current record and repeats it on a conflict, so that concurrent changes of other fields are
 * kept. Sends nothing if the record has these values already. Throws if it is aborted before the update.
 */
export async function updateUser(
  queryClient: QueryClient,
  { userId, tenantId }: User,
  createPatch: (user: User) => UserPatch,
  signal: AbortSignal,
): Promise<void> {
  const assertSameSession = sessionGuard();
  for (;;) {
    const { data, etag } = await queryClient.fetchQuery({
      queryKey: queryKeys.users.detail(userId, tenantId),
      queryFn: ({ signal }) => api.readUser(userId, { tenantId }, signal),
      staleTime: 0,
    });
    assertSameSession();
    signal.throwIfAborted();
    const patch = createPatch(data);
    // A password cannot be compared.
    if (!patch.password && isSameInput<object>(patch, { ...data })) return;
    try {
      // An update replaces the whole record, so send it as it was read. The service ignores the fields that it sets
      // itself.
      await api.updateUser({ ...data, ...patch }, etag);
      return;
    } catch (error) {
      if (!isApiError(error, 'CHANGED_MEANWHILE')) throw error;
    }
  }
}

/** Sets the main department. It is removed from the additional ones; the others stay. */
export const moveTo =
  (deptId: number | null) =>
  (user: User): UserPatch => ({ deptId, deptIds: user.deptIds.filter((id) => id !== deptId) });

/** Adds a department; the main one stays. */
export const addTo =
  (deptId: number) =>
  ({ deptId: main, deptIds }: User): UserPatch => ({
    deptId: main,
    deptIds: main === deptId ? deptIds : [...new Set([...deptIds, deptId])],
  });

/** Removes a department. If it was the main one, the first of the others takes its place. */
export const removeFrom =
  (deptId: number) =>
  (user: User): UserPatch => {
    const [first, ...others] = user.deptIds.filter((id) => id !== deptId);
    if (user.deptId !== deptId) return { deptId: user.deptId, deptIds: user.deptIds.filter((id) => id !== deptId) };
    return { deptId: first ?? null, deptIds: others };
  };

export const isMemberOf = ({ deptId: main, deptIds }: User, deptId: number) =>
  main === deptId || deptIds.includes(deptId);
