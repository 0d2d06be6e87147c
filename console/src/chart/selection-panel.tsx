import { CloseOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { Link } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { getUserCounts } from './card-drawing.tsx';
import { type ChartData, TENANT_CARD_ID } from './chart-data.ts';
import { chartTexts } from './texts.ts';

interface Props {
  chart: ChartData;
  activeId: string | undefined;
  loadingIds: ReadonlySet<string>;
  onActivate: (id: string | undefined) => void;
  onToggle: (id: string) => void;
  onSetRoot: (id: string) => void;
}

/** The actions for the active card, for mouse and touch. */
export function SelectionPanel({ chart, activeId, loadingIds, onActivate, onToggle, onSetRoot }: Props) {
  const t = useTexts(chartTexts);
  const card = activeId ? chart.cards.get(activeId) : undefined;
  const isDeleted = useIsDeleted(chart.day && card?.id);
  if (!card || card.id === TENANT_CARD_ID) return null;
  const facts = [card.leader ? t.leader(card.leader) : t.noLeader, ...getUserCounts(card, t)];
  if (card.disabled) facts.push(t.disabled);
  if (isDeleted) facts.push(t.deletedSince);
  return (
    <section className="chart-selected" aria-label={t.selected}>
      <div className="chart-facts">
        <strong>{card.name || t.unnamed}</strong>
        <span className="secondary">{facts.join(' · ')}</span>
      </div>
      <Link className="chart-open" to={`/departments/${card.id}`}>
        {chart.day ? t.openPresent : t.openDept}
      </Link>
      {card.hasChildren && (
        <Button size="small" loading={loadingIds.has(card.id)} onClick={() => onToggle(card.id)}>
          {card.open ? t.collapse : t.expand}
        </Button>
      )}
      {card.id !== chart.root && (
        <Button size="small" onClick={() => onSetRoot(card.id)}>
          {t.setAsRoot}
        </Button>
      )}
      <Button
        className="chart-clear-selection"
        size="small"
        type="text"
        aria-label={t.clearSelection}
        icon={<CloseOutlined />}
        onClick={() => onActivate(undefined)}
      />
    </section>
  );
}

/** Whether a department of the past is deleted now. Its page says by whom, and can restore it. */
function useIsDeleted(id: string | undefined): boolean {
  const ids = id && id !== TENANT_CARD_ID ? [id] : [];
  const { data } = useQuery({
    queryKey: queryKeys.departments.batch(ids),
    queryFn: ({ signal }) => api.readDepartments(ids, signal),
    enabled: ids.length > 0,
  });
  return data?.data.rows.length === 0;
}
