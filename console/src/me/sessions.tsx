import { useQuery } from '@tanstack/react-query';
import { Button, Card } from 'antd';
import { api, type OwnSession } from '../api.ts';
import { useTexts } from '../language.ts';
import { logOut } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { useDialogs } from '../ui/dialogs.ts';
import { Mark } from '../ui/mark.tsx';
import { useNotices } from '../ui/notices.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { meTexts } from './texts.ts';

/** Where the own account is logged in, and the end of it. */
export function Sessions() {
  const t = useTexts(meTexts);
  const dialogs = useDialogs();
  const notices = useNotices();
  const { data, error, refetch } = useQuery({
    queryKey: ['sessions'],
    queryFn: ({ signal }) => api.listSessions(signal),
  });
  const end = useAction({ run: api.endSession, done: t.ended, changes: [['sessions']] });
  const everywhere = () =>
    dialogs.confirm({
      title: t.everywhereAsk,
      content: t.everywhereHint,
      okText: t.everywhere,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      onOk: () => logOut({ everywhere: true }).catch(notices.failed),
    });
  return (
    <Card
      title={<h2>{t.sessions}</h2>}
      extra={
        <Button danger onClick={everywhere}>
          {t.everywhere}
        </Button>
      }
    >
      <p className="quiet">{t.sessionsHint}</p>
      {error ? <Failed error={error} retry={refetch} /> : !data && <Loading />}
      <ul className="rows">
        {data?.data.rows.map((session) => (
          <Row key={session.sessionId} session={session} busy={end.busy} end={() => end.start(session.sessionId)} />
        ))}
      </ul>
    </Card>
  );
}

function Row({ session, busy, end }: { session: OwnSession; busy: boolean; end: () => void }) {
  const t = useTexts(meTexts);
  const device = deviceOf(session.userAgent) ?? t.unknown;
  return (
    <li>
      <div>
        <strong>{device}</strong> {session.current && <Mark kind="good">{t.current}</Mark>}
        <div className="quiet">
          {[session.address, t.since(session.createTime), t.lastUsed(session.lastUsedTime)].filter(Boolean).join(' · ')}
        </div>
      </div>
      {!session.current && (
        <Button disabled={busy} onClick={end} aria-label={t.endOf(device)}>
          {t.end}
        </Button>
      )}
    </li>
  );
}

/** A guess for people; browsers do not say it plainly. */
function deviceOf(agent: string): string | undefined {
  if (!agent) return undefined;
  const browser = [/Edg\//, /Firefox\//, /Chrome\//, /Safari\//].findIndex((sign) => sign.test(agent));
  const system = /(Windows|Android|iPhone|iPad|Mac OS X|Linux)/.exec(agent)?.[1];
  const name = ['Edge', 'Firefox', 'Chrome', 'Safari'][browser];
  return name ? [name, system].filter(Boolean).join(' · ') : agent.slice(0, 40);
}
