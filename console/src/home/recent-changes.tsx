import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { ChangeSummary } from '../ui/change-summary.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { homeTexts } from './texts.ts';

const COUNT = 8;
const RESOURCES = ['department', 'user', 'tenant'] as const;

/**
 * Reads each kind of resource separately, because logins would crowd out everything else. Only the ledger of the
 * current tenant is searched. It also has the changes of the records of the tenants below, but not those of their
 * departments and users.
 */
async function readRecentChanges(signal: AbortSignal) {
  const lists = await Promise.all(
    RESOURCES.map((resource) => api.listChanges({ resource, below: false, limit: COUNT }, signal)),
  );
  return lists
    .flatMap(({ data }) => data.rows)
    .sort((a, b) => b.id - a.id)
    .slice(0, COUNT);
}

export function RecentChanges() {
  const t = useTexts(homeTexts);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.changes.recent,
    queryFn: ({ signal }) => readRecentChanges(signal),
    // Users return to this screen to see what they have just done.
    staleTime: 0,
  });
  return (
    <Card title={t.recentChanges} extra={<Link to="/changes">{t.allChanges}</Link>}>
      {error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : data.length === 0 ? (
        <p className="secondary home-hint">{t.noChanges}</p>
      ) : (
        <ul className="item-list home-recent-changes">
          {data.map((change) => (
            <li key={change.id}>
              <ChangeSummary change={change} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
