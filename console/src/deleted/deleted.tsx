import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Segmented } from 'antd';
import { Link, useNavigate, useParams } from 'react-router';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { ChildTenantNotice } from '../ui/child-tenant-notice.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import type { Restorable } from '../ui/restore-record.ts';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useTenantParam } from '../ui/use-tenant-param.ts';
import { DeletedRow } from './deleted-row.tsx';
import { joinPages, readDeletions, withoutDescendants } from './descendants.ts';
import { deletedTexts } from './texts.ts';
import './deleted.css';

const KINDS: readonly Restorable[] = ['department', 'user', 'tenant'];

/** The departments, users and tenants that are deleted and can be restored. The kind is in the URL, and so is a child tenant. */
export default function Deleted() {
  const t = useTexts(deletedTexts);
  const navigate = useNavigate();
  const { kind: kindParam } = useParams();
  const kind = KINDS.find((known) => known === kindParam) ?? 'department';
  const tenantId = useTenantParam();
  const scope = tenantId ? `?tenantId=${tenantId}` : '';
  return (
    <AdministratorsOnly title={t.title}>
      <PageTitle title={t.title}>
        <Link to={`/changes?action=deleted${tenantId ? `&tenant=${tenantId}` : ''}`}>{t.changes}</Link>
      </PageTitle>
      {tenantId && <ChildTenantNotice tenantId={tenantId} title={t.ofTenant} ownPath={`/deleted/${kind}`} />}
      <Card>
        <Segmented<Restorable>
          aria-label={t.kinds}
          name="kind"
          className="margin-bottom"
          value={kind}
          onChange={(next) => navigate(`/deleted/${next}${scope}`)}
          options={KINDS.map((value) => ({ value, label: t[value] }))}
        />
        <p className="secondary deleted-hint">{kind === 'department' ? t.departmentHint : t.hint}</p>
        <List key={`${kind} ${tenantId}`} kind={kind} tenantId={tenantId} />
      </Card>
    </AdministratorsOnly>
  );
}

function List({ kind, tenantId }: { kind: Restorable; tenantId: string | undefined }) {
  const t = useTexts(deletedTexts);
  // Search only the ledger of this tenant, not those of the tenants below. It has copies of the changes to these tenants,
  // so their deletions are found as well.
  const filter = {
    ...{ resource: kind, action: 'deleted', latest: true, below: false },
    ...(tenantId ? { tenantId } : {}),
  };
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: queryKeys.changes.list({ ...filter, deleted: true }),
    queryFn: ({ pageParam, signal }) => readDeletions(filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next ?? undefined,
    staleTime: 0,
  });
  if (error && !data) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const rows = withoutDescendants(joinPages(data.pages));
  if (rows.length === 0) return <Empty text={{ department: t.none, user: t.noUsers, tenant: t.noTenants }[kind]} />;
  return (
    <>
      <ul className="item-list">
        {rows.map(({ change, descendantCount }) => (
          <DeletedRow key={change.id} change={change} descendantCount={descendantCount} />
        ))}
      </ul>
      {error && <LoadError error={error} />}
      {hasNextPage && (
        <p className="deleted-more">
          <Button loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.older}
          </Button>
        </p>
      )}
    </>
  );
}
