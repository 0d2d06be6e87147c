import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { type AuditEntry, api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { ActionTag, formatDateTime } from '../ui/change-summary.tsx';
import { FieldChanges } from '../ui/field-changes.tsx';
import { useOperator } from '../ui/operator.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { PersonLink } from '../ui/user/person-link.tsx';
import { personTexts } from './person-texts.ts';

const PAGE_SIZE = 20;

/** The changes of a user, newest first. The page of a deleted user reads them too. */
export const useUserHistory = (id: number, tenantId: string | undefined) =>
  useInfiniteQuery({
    queryKey: queryKeys.users.history(id, tenantId),
    queryFn: ({ pageParam, signal }) =>
      api.listChanges(
        {
          resource: 'user',
          resourceId: String(id),
          below: false,
          limit: PAGE_SIZE,
          ...(tenantId ? { tenantId } : {}),
          ...(pageParam ? { cursor: pageParam } : {}),
        },
        signal,
      ),
    initialPageParam: '',
    getNextPageParam: ({ data: { next } }) => next ?? undefined,
    staleTime: 0,
  });

export function PersonHistory({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(personTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useUserHistory(id, tenantId);
  const rows = data?.pages.flatMap(({ data: { rows } }) => rows);
  return (
    <Card title={t.history} className="person-history">
      {!rows ? (
        error ? (
          <LoadError error={error} onRetry={refetch} />
        ) : (
          <Loading />
        )
      ) : rows.length === 0 ? (
        <Empty text={t.noHistory} />
      ) : (
        <ol className="item-list" aria-label={t.history}>
          {rows.map((change) => (
            <HistoryEntry key={change.id} change={change} tenantId={tenantId} />
          ))}
        </ol>
      )}
      {hasNextPage && (
        <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.olderHistory}
        </Button>
      )}
    </Card>
  );
}

function HistoryEntry({ change, tenantId }: { change: AuditEntry; tenantId: string | undefined }) {
  const { action, byUserId, byTenantId, time, before, after } = change;
  const { name, account } = useOperator(change);
  return (
    <li className="person-history-entry">
      <div className="change-title">
        <ActionTag action={action} />
        <span className="secondary person-operator" title={account}>
          {byUserId === null ? (
            name
          ) : (
            <PersonLink id={byUserId} tenantId={byTenantId ?? undefined}>
              {name}
            </PersonLink>
          )}
          <span>{formatDateTime(time)}</span>
        </span>
      </div>
      {(before || after) && <FieldChanges change={change} tenantId={tenantId} />}
    </li>
  );
}
