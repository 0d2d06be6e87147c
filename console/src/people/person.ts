import type { QueryClient } from '@tanstack/react-query';
import { api, type User, type UserUpdate } from '../api.ts';
import { isRefusal } from '../http.ts';
import { inThisSession } from '../session.ts';

export const nameOf = ({ nickName, userName }: Pick<User, 'nickName' | 'userName'>) => nickName || userName;

/** What a person's record changes. */
export type Change = Partial<Pick<UserUpdate, 'deptId' | 'deptIds' | 'status' | 'password'>>;

/** An update replaces the whole record: all that was read goes back, with the change in it. */
const whole = (user: User, change: Change): UserUpdate => ({
  userId: user.userId,
  tenantId: user.tenantId,
  userName: user.userName,
  nickName: user.nickName,
  deptId: user.deptId,
  deptIds: user.deptIds,
  email: user.email,
  phone: user.phone,
  status: user.status,
  roles: user.roles,
  ...change,
});

/**
 * Changes that alone, of the record as it is now: whatever others change at the same time stays. Without a connection
 * it is read again until there is one. Once stopped, it throws instead.
 */
export async function changePerson(
  queries: QueryClient,
  { userId, tenantId }: User,
  changeOf: (now: User) => Change,
  signal: AbortSignal,
): Promise<void> {
  const sameSession = inThisSession();
  for (;;) {
    const { data, etag } = await queries.fetchQuery({
      queryKey: ['user', userId, tenantId],
      queryFn: ({ signal }) => api.readUser(userId, { tenantId }, signal),
      staleTime: 0,
    });
    sameSession();
    signal.throwIfAborted();
    try {
      await api.updateUser(whole(data, changeOf(data)), etag);
      return;
    } catch (error) {
      if (!isRefusal(error, 'CHANGED_MEANWHILE')) throw error;
    }
  }
}

/** The main department; the further ones stay, but none is both. */
export const movedTo =
  (deptId: number | null) =>
  (now: User): Change => ({ deptId, deptIds: now.deptIds.filter((id) => id !== deptId) });
