import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { SessionItem } from '../ui/session-item.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { getDisplayName } from '../ui/user/update-user.ts';
import { personTexts } from './person-texts.ts';

/** The sessions of a user. Ending one logs the user out on that device. */
export function PersonSessions({ user, tenantId }: { user: User; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const dialogs = useDialogs();
  const { user: me } = useMe();
  const { userId } = user;
  const queryKey = queryKeys.users.sessions(userId, tenantId);
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => api.listUserSessions(userId, { tenantId }, signal),
    staleTime: 0,
  });
  const end = useApiMutation({
    mutationFn: (sessionId?: string) => api.endUserSessions(userId, { tenantId, ...(sessionId ? { sessionId } : {}) }),
    successMessage: (_, sessionId) => (sessionId ? t.sessionEnded : t.allEnded),
    // The audit log records who ended a session.
    invalidates: [queryKey, queryKeys.users.logins(userId, tenantId)],
  });
  const confirmEndAll = () =>
    dialogs.confirm({
      title: t.endAllTitle(getDisplayName(user)),
      content: t.endAllHint,
      okText: t.endAll,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      onOk: () => end.mutate(undefined),
    });
  const { rows = [], total = 0 } = data?.data ?? {};
  // Administrators end all of their own sessions under My account, which warns them that they have to log in again.
  const isSelf = userId === me.userId && user.tenantId === me.tenantId;
  return (
    <Card
      title={t.sessions}
      extra={
        total > 0 &&
        !isSelf && (
          <Button danger disabled={end.isPending} onClick={confirmEndAll}>
            {t.endAll}
          </Button>
        )
      }
    >
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : total === 0 ? (
        <p className="secondary">{t.noSessions}</p>
      ) : (
        <>
          <ul className="item-list" aria-label={t.sessions}>
            {rows.map((session) => (
              <SessionItem
                key={session.sessionId}
                session={session}
                disabled={end.isPending}
                onEnd={() => end.mutate(session.sessionId)}
              />
            ))}
          </ul>
          {rows.length < total && <p className="secondary">{t.sessionTotal(rows.length, total)}</p>}
        </>
      )}
    </Card>
  );
}
