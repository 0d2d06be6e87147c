import { ReloadOutlined } from '@ant-design/icons';
import { Alert, Button, Select } from 'antd';
import { useMemo, useState } from 'react';
import { Link, useNavigate, useParams, useSearchParams } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { Canvas } from './canvas.tsx';
import { TENANT_ID, toCardTree } from './chart-data.ts';
import { ExportMenu } from './export-menu.tsx';
import { computeLayout } from './layout.ts';
import { RootPath } from './root-path.tsx';
import { RootSelect } from './root-select.tsx';
import { SelectionPanel } from './selection-panel.tsx';
import { chartTexts } from './texts.ts';
import { INITIAL_LEVELS, useChart } from './use-chart.ts';
import './chart.css';

const LEVELS = ['1', '2', '3', '4', '5'];
const parseLevels = (text: string | null) =>
  text === 'all' ? Number.POSITIVE_INFINITY : LEVELS.includes(text ?? '') ? Number(text) : undefined;

/** /chart/:id starts at a department, /chart shows all of them; ?levels= is the number of levels expanded initially. */
export default function Chart() {
  const t = useTexts(chartTexts);
  const { id: root = TENANT_ID } = useParams();
  const [search, setSearch] = useSearchParams();
  const levels = parseLevels(search.get('levels'));
  const { data: chart, error, refetch, isFetching, isPlaceholderData, loadingIds, toggle } = useChart(root, levels);
  const [activeId, setActiveId] = useState<string>();
  const navigate = useNavigate();
  const layout = useMemo(() => chart && computeLayout(toCardTree(chart)), [chart]);
  const isEmpty = chart?.root === TENANT_ID && chart.cards.size === 1;
  const setRoot = (id: string) => {
    setActiveId(undefined);
    navigate({ pathname: `/chart/${id}`, search: search.toString() });
  };
  return (
    <div className="chart">
      <PageTitle title={t.title}>
        <RootSelect onSelect={setRoot} />
        <Select
          className="chart-levels"
          aria-label={t.levels}
          value={levels ? search.get('levels') : String(INITIAL_LEVELS)}
          options={[
            ...LEVELS.map((value) => ({ value, label: t.level(Number(value)) })),
            { value: 'all', label: t.all },
          ]}
          onChange={(value) => setSearch({ levels: value }, { replace: true })}
        />
        <Button
          aria-label={t.reload}
          title={t.reload}
          icon={<ReloadOutlined />}
          loading={isFetching && chart !== undefined}
          onClick={() => refetch()}
        />
        {chart && layout && !isEmpty && <ExportMenu chart={chart} layout={layout} />}
      </PageTitle>
      {root !== TENANT_ID && <RootPath id={root} />}
      {chart?.truncated && levels !== undefined && !isPlaceholderData && (
        <Alert type="info" showIcon className="margin-bottom" title={t.truncated(chart.cards.size)} />
      )}
      <div className={isPlaceholderData ? 'chart-stage chart-stale' : 'chart-stage'}>
        {error && !chart ? (
          <>
            <LoadError error={error} onRetry={refetch} />
            {root !== TENANT_ID && <Link to="/chart">{t.showAll}</Link>}
          </>
        ) : !chart || !layout ? (
          <Loading />
        ) : isEmpty ? (
          <NoDepartments />
        ) : (
          <>
            <Canvas
              {...{ chart, layout, activeId, loadingIds }}
              onActivate={setActiveId}
              onToggle={toggle}
              onOpen={(id) => id !== TENANT_ID && navigate(`/departments/${id}`)}
            />
            <SelectionPanel
              {...{ chart, activeId, loadingIds }}
              onActivate={setActiveId}
              onToggle={toggle}
              onSetRoot={setRoot}
            />
          </>
        )}
      </div>
      {layout && !isEmpty && <p className="chart-keys secondary">{t.keys}</p>}
    </div>
  );
}

function NoDepartments() {
  const t = useTexts(chartTexts);
  return <Empty text={t.none}>{useIsAdministrator() && <Link to="/departments">{t.toDepartments}</Link>}</Empty>;
}
