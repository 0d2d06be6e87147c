import { CloseOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import { type Picture, TENANT } from './picture.ts';
import { chartTexts } from './texts.ts';

interface Props {
  picture: Picture;
  active: string | undefined;
  busy: ReadonlySet<string>;
  activate: (id: string | undefined) => void;
  toggle: (id: string) => void;
  begin: (id: string) => void;
}

/** What one can do with the chosen card, for the mouse and for thumbs. */
export function Selected({ picture, active, busy, activate, toggle, begin }: Props) {
  const t = useTexts(chartTexts);
  const card = active ? picture.cards.get(active) : undefined;
  if (!card || card.id === TENANT) return null;
  const facts = [card.leader ? t.ledBy(card.leader) : t.noLeader];
  if (card.people !== undefined) facts.push(t.people(card.people));
  if (card.disabled) facts.push(t.disabled);
  return (
    <section className="chart-selected" aria-label={t.selected}>
      <div className="chart-facts">
        <strong>{card.name || t.nameless}</strong>
        <span className="quiet">{facts.join(' · ')}</span>
      </div>
      <Link className="chart-open" to={`/departments/${card.id}`}>
        {t.openDept}
      </Link>
      {card.hasChildren && (
        <Button size="small" loading={busy.has(card.id)} onClick={() => toggle(card.id)}>
          {card.open ? t.collapse : t.expand}
        </Button>
      )}
      {card.id !== picture.root && (
        <Button size="small" onClick={() => begin(card.id)}>
          {t.startHere}
        </Button>
      )}
      <Button
        className="chart-unselect"
        size="small"
        type="text"
        aria-label={t.unselect}
        icon={<CloseOutlined />}
        onClick={() => activate(undefined)}
      />
    </section>
  );
}
