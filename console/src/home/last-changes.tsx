import { useQuery } from '@tanstack/react-query';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { ChangeLine } from '../ui/change.tsx';
import { Panel } from '../ui/panel.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { homeTexts } from './texts.ts';

const SHOWN = 8;
const TOLD = ['department', 'user', 'tenant'] as const;

/** Of each kind the last, for logins would push all else out. The own ledger alone: it has the tenants below too. */
async function readLast(signal: AbortSignal) {
  const lists = await Promise.all(
    TOLD.map((resource) => api.listChanges({ resource, below: false, limit: SHOWN }, signal)),
  );
  return lists
    .flatMap(({ data }) => data.rows)
    .sort((a, b) => b.id - a.id)
    .slice(0, SHOWN);
}

export function LastChanges() {
  const t = useTexts(homeTexts);
  const { data, error, refetch } = useQuery({
    queryKey: ['changes', 'last'],
    queryFn: ({ signal }) => readLast(signal),
    // Somebody who comes back here wants to see what he has just done.
    staleTime: 0,
  });
  return (
    <Panel title={t.lastChanges} extra={<Link to="/changes">{t.allChanges}</Link>}>
      {error ? (
        <Failed error={error} retry={refetch} />
      ) : !data ? (
        <Loading />
      ) : data.length === 0 ? (
        <p className="quiet home-none">{t.noChanges}</p>
      ) : (
        <ul className="rows home-changes">
          {data.map((change) => (
            <li key={change.id}>
              <ChangeLine change={change} />
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
