import { useInfiniteQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useId } from 'react';
import { type AuditEntry, api, type Id } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { ActionTag, formatDateTime } from './change-summary.tsx';
import { changeTexts } from './change-texts.ts';
import { FieldChanges } from './field-changes.tsx';
import { OperatorLink } from './operator.tsx';
import { RevertButton } from './revert-button.tsx';
import { Empty, LoadError, Loading } from './states.tsx';

interface HistoryOf {
  resource: 'department' | 'user' | 'tenant';
  id: Id;
  /**
   * The tenant of the record, if it is not the current one. Omitted for a tenant: the ledgers of its ancestors have its changes,
   * and remain when it is deleted.
   */
  tenantId?: string | undefined;
}

const HISTORY_KEYS = {
  department: queryKeys.departments.history,
  user: queryKeys.users.history,
  tenant: queryKeys.tenants.history,
};
const PAGE_SIZE = 20;

/** The changes of a record, newest first. They remain when it is deleted. */
export const useRecordHistory = ({ resource, id, tenantId }: HistoryOf) =>
  useInfiniteQuery({
    queryKey: HISTORY_KEYS[resource](id, tenantId),
    queryFn: ({ pageParam, signal }) =>
      api.listChanges(
        {
          resource,
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

/** The changes of a record, each with a button that reverts it unless `readOnly`. Only administrators may read or revert them. */
export function RecordHistory({ readOnly = false, ...props }: HistoryOf & { readOnly?: boolean }) {
  const t = useTexts(changeTexts);
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useRecordHistory(props);
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const rows = data.pages.flatMap(({ data: { rows } }) => rows);
  if (rows.length === 0) return <Empty text={t.noHistory} />;
  return (
    <>
      <ol className="item-list" aria-label={t.history}>
        {rows.map((change) => (
          <HistoryEntry key={change.id} change={change} tenantId={props.tenantId} readOnly={readOnly} />
        ))}
      </ol>
      {hasNextPage && (
        <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
          {t.olderHistory}
        </Button>
      )}
    </>
  );
}

interface EntryProps {
  change: AuditEntry;
  tenantId: string | undefined;
  readOnly: boolean;
}

function HistoryEntry({ change, tenantId, readOnly }: EntryProps) {
  const { action, time, before, after } = change;
  const titleId = useId();
  return (
    <li className="history-entry">
      <div className="history-header">
        <div className="change-title" id={titleId}>
          <ActionTag action={action} />
          <span className="secondary history-operator">
            <OperatorLink operator={change} />
            <span>{formatDateTime(time)}</span>
          </span>
        </div>
        {!readOnly && <RevertButton change={change} describedBy={titleId} />}
      </div>
      {(before || after) && <FieldChanges change={change} tenantId={tenantId} />}
    </li>
  );
}
