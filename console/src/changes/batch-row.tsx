import { DownOutlined, UpOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useId, useState } from 'react';
import { type AuditEntry, api } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { getResourceName, OperatorAndTime, useResourceName } from '../ui/change-summary.tsx';
import { changeTexts, getActionLabel } from '../ui/change-texts.ts';
import { ChangeTenant } from '../ui/operator.tsx';
import { RevertButton } from '../ui/revert-button.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { ChangeRow } from './change-row.tsx';
import { changesTexts } from './texts.ts';

type Count = NonNullable<AuditEntry['counts']>[number];

/** A larger batch is shown in part. */
const MAX_SHOWN = 200;

interface Props {
  change: AuditEntry;
  counts: readonly Count[];
  /** Highlights a row that has just arrived. */
  isNew: boolean;
}

/** The changes of one request in one row, such as "4 departments deleted, 68 users updated". It expands to show each. */
export function BatchRow({ change, counts, isNew }: Props) {
  const t = useTexts(changesTexts);
  const describe = useDescription();
  const [expanded, setExpanded] = useState(false);
  const detailsId = useId();
  const description = describe(counts);
  const lastName = useResourceName(change);
  const top = useTopDepartment(change, counts);
  const name = top === undefined ? lastName : top;
  return (
    <li className={`changes-row${isNew ? ' changes-new' : ''}`}>
      <div className="change">
        <div className="change-title">
          <strong>{description}</strong>
          {name && <span className="secondary">{t.including(name)}</span>}
        </div>
        <OperatorAndTime change={change}>
          <ChangeTenant change={change} />
        </OperatorAndTime>
      </div>
      <Button
        type="text"
        icon={expanded ? <UpOutlined /> : <DownOutlined />}
        aria-expanded={expanded}
        aria-controls={expanded ? detailsId : undefined}
        aria-label={t.detailsOf(description)}
        onClick={() => setExpanded(!expanded)}
      >
        <span className="changes-button-label">{t.details}</span>
      </Button>
      <RevertButton change={change} />
      {expanded && (
        <div id={detailsId} className="changes-details">
          <BatchChanges change={change} total={counts.reduce((sum, { count }) => sum + count, 0)} />
        </div>
      )}
    </li>
  );
}

/**
 * Reads the changes of a request, found by its id. Those that the service itself made, such as notices that the request caused,
 * have no id: then all are found by their time, which is the same.
 */
function useBatch({ requestId, time, tenantId, batch, counts }: AuditEntry, resource?: 'department', enabled = true) {
  const ownTenantId = useMe().tenant.tenantId;
  const hasNotice = counts?.some((count) => count.resource === 'notice');
  const filter = {
    ...(requestId && !hasNotice ? { requestId } : { from: time, to: millisecondAfter(time) }),
    ...(resource ? { resource } : {}),
    below: false,
    limit: MAX_SHOWN,
    ...(tenantId === ownTenantId ? {} : { tenantId }),
  };
  const { data, ...query } = useQuery({
    queryKey: queryKeys.changes.list({ ...filter, batch }),
    queryFn: ({ signal }) => api.listChanges(filter, signal),
    enabled,
    // What a request has changed stays the same, so live updates must not load all rows again.
    staleTime: 'static',
  });
  return { ...query, rows: data?.data.rows.filter((row) => row.batch === batch) };
}

/** Returns a time that is at most a millisecond later: Date cuts off the microseconds. */
const millisecondAfter = (time: string) => new Date(Date.parse(time) + 1).toISOString();

/**
 * The name of the topmost department that a request changed, which says more than that of the last record. Empty while it is
 * loading; undefined if the request changed no departments, or more than can be read.
 */
function useTopDepartment(change: AuditEntry, counts: readonly Count[]): string | undefined {
  const count = counts.reduce((sum, each) => sum + (each.resource === 'department' ? each.count : 0), 0);
  const enabled = count > 0 && count <= MAX_SHOWN;
  const { rows, isLoading } = useBatch(change, 'department', enabled);
  if (isLoading) return '';
  const ids = new Set(rows?.map(({ resourceId }) => resourceId));
  const top = rows?.find(({ before, after }) => {
    const { parentId } = (after ?? before ?? {}) as { parentId?: number };
    return !ids.has(String(parentId));
  });
  return top && getResourceName(top);
}

/** The individual changes of a request. The row of the request says who made them, and when. */
function BatchChanges({ change, total }: { change: AuditEntry; total: number }) {
  const t = useTexts(changesTexts);
  const { rows, error, refetch } = useBatch(change);
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!rows) return <Loading />;
  return (
    <>
      <ul className="item-list changes-batch">
        {rows.map((row) => (
          <ChangeRow key={row.id} change={row} />
        ))}
      </ul>
      {total > rows.length && <p className="secondary">{t.moreInBatch(total - rows.length)}</p>}
    </>
  );
}

/** Returns a function that describes what a request has done: each action with the number of records, by kind. */
function useDescription(): (counts: readonly Count[]) => string {
  const t = useTexts(changesTexts);
  const labels = useTexts(changeTexts);
  const formatList = useListFormat();
  const nouns: Record<Count['resource'], (count: number) => string> = {
    department: t.departments,
    user: t.users,
    tenant: t.tenants,
    login: t.records,
    webhook: t.records,
    key: t.records,
    quota: t.quotas,
    notice: t.notices,
  };
  const describe = ({ resource, action, count }: Count) => {
    if (action === 'password changed') return t.passwordsChanged(count);
    if (action === 'secret changed') return t.secretsRotated(count);
    return t.actionOf(getActionLabel(labels, action), nouns[resource](count));
  };
  return (counts) => formatList(counts.map(describe));
}
