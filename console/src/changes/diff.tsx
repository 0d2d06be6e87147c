import { ArrowLeftOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'react-router';
import { api, type Diff } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import { Card } from '../ui/card.tsx';
import { useFieldLabels } from '../ui/field-labels.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { Changed, Created, Deleted, Moved, Renamed } from './diff-lists.tsx';
import { PeopleDiff } from './diff-people.tsx';
import { diffPeople, OperatorsContext, operatorsOf, usePeriodChanges } from './period-changes.ts';
import { daysAgo, PeriodPicker } from './period-picker.tsx';
import { diffTexts } from './texts.ts';
import './changes.css';

/** Compares the departments and users at two points in time. Both times are in the URL. */
export default function DiffScreen() {
  const t = useTexts(diffTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <div className="stack">
        <PageTitle title={t.title}>
          <Link to="/changes">
            <ArrowLeftOutlined aria-hidden /> {t.back}
          </Link>
        </PageTitle>
        <DiffContent />
      </div>
    </AdministratorsOnly>
  );
}

function DiffContent() {
  const t = useTexts(diffTexts);
  const [search, update] = useUrlParams();
  const [weekAgo] = useState(() => daysAgo(7));
  const from = search.get('from') || weekAgo;
  const to = search.get('to') || null;
  const isReversed = to !== null && Date.parse(to) < Date.parse(from);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.diff(from, to),
    queryFn: ({ signal }) => api.compareDepartments({ from, ...(to ? { to } : {}) }, signal),
    enabled: !isReversed,
    staleTime: 0,
  });
  const setPeriod = (period: { from?: string; to?: string | null }) =>
    update((current) => ({ from: current.get('from') || weekAgo, ...period }));
  return (
    <>
      <Card>
        <PeriodPicker from={from} to={to} onChange={setPeriod} />
        <p className="secondary changes-hint">{t.hint}</p>
      </Card>
      {isReversed ? (
        <p role="alert">{t.reversed}</p>
      ) : error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : data ? (
        <DiffLists diff={data.data} from={from} to={to} />
      ) : (
        <Loading />
      )}
    </>
  );
}

function DiffLists({ diff, from, to }: { diff: Diff; from: string; to: string | null }) {
  const t = useTexts(diffTexts);
  const departments = usePeriodChanges('department', from, to);
  const users = usePeriodChanges('user', from, to);
  const hasDepartments = Object.values(diff).some(({ length }) => length > 0);
  const people = diffPeople(users.rows, useFieldLabels('user'));
  // Wait for both, so that all rows are rendered at once and their names are read with one request.
  if (departments.isPending || users.isPending) return <Loading />;
  const failed = [departments, users].find(({ error }) => error);
  if (failed?.error) return <LoadError error={failed.error} onRetry={failed.refetch} />;
  if (!hasDepartments && people.length === 0 && !users.truncated) return <Empty text={t.noChanges} />;
  return (
    <OperatorsContext value={operatorsOf(departments.rows)}>
      <Created rows={diff.created} />
      <Moved rows={diff.moved} />
      <Renamed rows={diff.renamed} />
      <Changed rows={diff.changed} />
      <Deleted rows={diff.deleted} />
      <PeopleDiff people={people} truncated={users.truncated} deletedDepartments={diff.deleted} />
    </OperatorsContext>
  );
}
