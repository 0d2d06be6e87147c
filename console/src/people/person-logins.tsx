import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api, type User } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { ActionTag, formatDateTime } from '../ui/change-summary.tsx';
import { OperatorLink } from '../ui/operator.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { personTexts } from './person-texts.ts';

/** A link leads to the other logins in the audit log. */
const MAX_SHOWN = 5;

/** The last logins of a user, failed ones too, and who has ended their sessions. */
export function PersonLogins({ user: { userId }, tenantId }: { user: User; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.users.logins(userId, tenantId),
    queryFn: ({ signal }) =>
      api.listChanges(
        {
          resource: 'login',
          resourceId: String(userId),
          below: false,
          limit: MAX_SHOWN,
          ...(tenantId ? { tenantId } : {}),
        },
        signal,
      ),
    staleTime: 0,
  });
  const rows = data?.data.rows ?? [];
  const scope = tenantId ? `&tenant=${tenantId}` : '';
  return (
    <Card
      title={t.logins}
      extra={rows.length > 0 && <Link to={`/changes?resource=login&resourceId=${userId}${scope}`}>{t.allLogins}</Link>}
    >
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : rows.length === 0 ? (
        <p className="secondary">{t.noLogins}</p>
      ) : (
        <ul className="item-list person-logins" aria-label={t.logins}>
          {rows.map((login) => (
            <li key={login.id}>
              <span>
                <ActionTag action={login.action} /> {login.action === 'ended' && <OperatorLink operator={login} />}
              </span>
              <span className="secondary">
                {[login.address, formatDateTime(login.time)].filter(Boolean).join(' · ')}
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
