import { ReloadOutlined } from '@ant-design/icons';
import { Alert, Button, Select } from 'antd';
import { useMemo, useState } from 'react';
import { Link, useNavigate, useParams } from 'react-router';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { DayPicker, getToday, parsePastDay } from '../ui/day-picker.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { restoreFocus } from '../ui/restore-focus.ts';
import { Empty, LoadError, Loading } from '../ui/states.tsx';
import { uiTexts } from '../ui/texts.ts';
import { useUrlParams } from '../ui/use-url-params.ts';
import { Canvas } from './canvas.tsx';
import { TENANT_CARD_ID, toCardTree } from './chart-data.ts';
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

/** The chart of today is the current one, with numbers of users, and not the one at the end of a day. */
function parseChartDay(text: string | null): string | undefined {
  const day = parsePastDay(text);
  return day === getToday() ? undefined : day;
}

/**
 * /chart/:id starts at a department, /chart shows all of them; ?levels= is the number of levels shown initially, and
 * ?day= shows the departments at the end of a day.
 */
export default function Chart() {
  const t = useTexts(chartTexts);
  const shared = useTexts(uiTexts);
  const [search, update] = useUrlParams();
  const day = parseChartDay(search.get('day'));
  const administrator = useIsAdministrator();
  if (!day || administrator) return <ChartContent day={day} />;
  return (
    <>
      <PageTitle title={t.title} />
      <Empty text={shared.administratorsOnly}>
        <Button onClick={() => update({ day: null })}>{t.backToToday}</Button>
      </Empty>
    </>
  );
}

function ChartContent({ day }: { day: string | undefined }) {
  const t = useTexts(chartTexts);
  const { id: root = TENANT_CARD_ID } = useParams();
  const [search, update] = useUrlParams();
  const levels = parseLevels(search.get('levels'));
  const {
    data: chart,
    error,
    refetch,
    isFetching,
    isPlaceholderData,
    loadingIds,
    toggle,
  } = useChart(root, levels, day);
  const [activeId, setActiveId] = useState<string>();
  const navigate = useNavigate();
  const administrator = useIsAdministrator();
  const layout = useMemo(() => chart && computeLayout(toCardTree(chart)), [chart]);
  const isEmpty = chart?.root === TENANT_CARD_ID && chart.cards.size === 1;
  const setRoot = (id: string) => {
    setActiveId(undefined);
    navigate({ pathname: `/chart/${id}`, search: search.toString() });
  };
  const setDay = (next: string | null) => {
    setActiveId(undefined);
    update({ day: next === getToday() ? null : next });
  };
  const showToday = () => {
    setDay(null);
    // The button disappears with the notice.
    restoreFocus(null);
  };
  return (
    <div className="chart">
      <PageTitle title={day ? `${t.title} · ${day}` : t.title}>
        <RootSelect day={day} onSelect={setRoot} />
        {administrator && (
          <DayPicker className="chart-day" label={t.day} day={day} emptyText={t.today} onChange={setDay} />
        )}
        <Select
          className="chart-levels"
          aria-label={t.levels}
          value={levels ? search.get('levels') : String(INITIAL_LEVELS)}
          options={[
            ...LEVELS.map((value) => ({ value, label: t.level(Number(value)) })),
            { value: 'all', label: t.all },
          ]}
          onChange={(value) => update({ levels: value }, { replace: true })}
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
      {day && <PastNotice day={day} onToday={showToday} />}
      {root !== TENANT_CARD_ID && <RootPath id={root} day={day} />}
      {chart?.truncated && levels !== undefined && !isPlaceholderData && (
        <Alert
          type="info"
          showIcon
          className="margin-bottom"
          title={t.truncated(chart.cards.size - (chart.cards.has(TENANT_CARD_ID) ? 1 : 0))}
        />
      )}
      {error && chart && <LoadError error={error} onRetry={refetch} />}
      <div className={isPlaceholderData ? 'chart-stage chart-stale' : 'chart-stage'}>
        {error && !chart ? (
          <>
            {day && isApiError(error, 'DEPT_NOT_FOUND') ? (
              <Empty text={t.notOnDay(day)} />
            ) : (
              <LoadError error={error} onRetry={refetch} />
            )}
            {root !== TENANT_CARD_ID && <Link to={day ? `/chart?day=${day}` : '/chart'}>{t.showAll}</Link>}
          </>
        ) : !chart || !layout ? (
          <Loading />
        ) : isEmpty ? (
          <NoDepartments day={chart.day} />
        ) : (
          <>
            <Canvas
              {...{ chart, layout, activeId, loadingIds }}
              onActivate={setActiveId}
              onToggle={toggle}
              onOpen={(id) => id !== TENANT_CARD_ID && navigate(`/departments/${id}`)}
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

function PastNotice({ day, onToday }: { day: string; onToday: () => void }) {
  const t = useTexts(chartTexts);
  return (
    <Alert
      type="warning"
      showIcon
      className="chart-past margin-bottom"
      title={t.past(day)}
      action={
        <div className="page-actions">
          <Link to={`/changes/tree?day=${day}`}>{t.showAsTree}</Link>
          <Button size="small" onClick={onToday}>
            {t.backToToday}
          </Button>
        </div>
      }
    />
  );
}

function NoDepartments({ day }: { day: string | undefined }) {
  const t = useTexts(chartTexts);
  const administrator = useIsAdministrator();
  if (day) return <Empty text={t.nonePast} />;
  if (!administrator) return <Empty text={t.none} />;
  return (
    <Empty text={t.noneForAdministrators}>
      <Link to="/departments">{t.toDepartments}</Link>
    </Empty>
  );
}
