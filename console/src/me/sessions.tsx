import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { logOut } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { SessionItem } from '../ui/session-item.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { useNotify } from '../ui/use-notify.ts';
import { meTexts } from './texts.ts';

/** The sessions of the current user. All but the current one have a button that ends them. */
export function Sessions() {
  const t = useTexts(meTexts);
  const dialogs = useDialogs();
  const notify = useNotify();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.sessions,
    queryFn: ({ signal }) => api.listSessions(signal),
  });
  const endSession = useApiMutation({
    mutationFn: api.endSession,
    successMessage: t.ended,
    invalidates: [queryKeys.sessions],
  });
  const confirmLogoutEverywhere = () =>
    dialogs.confirm({
      title: t.logOutEverywhereTitle,
      content: t.logOutEverywhereHint,
      okText: t.logOutEverywhere,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      onOk: () => logOut({ everywhere: true }).catch(notify.error),
    });
  return (
    <Card
      title={t.sessions}
      extra={
        <Button danger onClick={confirmLogoutEverywhere}>
          {t.logOutEverywhere}
        </Button>
      }
    >
      <p className="secondary">{t.sessionsHint}</p>
      {error ? <LoadError error={error} onRetry={refetch} /> : !data && <Loading />}
      <ul className="item-list">
        {data?.data.rows.map((session) => (
          <SessionItem
            key={session.sessionId}
            session={session}
            disabled={endSession.isPending}
            onEnd={() => endSession.mutate(session.sessionId)}
          />
        ))}
      </ul>
    </Card>
  );
}
