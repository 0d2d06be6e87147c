import { memo } from 'react';
import { CARD } from './layout.ts';
import { FONT, fitted, widthOf } from './measure.ts';
import type { Card } from './picture.ts';
import type { ChartTexts } from './texts.ts';

/** Attributes only, no styles: the same drawing is saved as a file that stands alone. */
export interface Palette {
  surface: string;
  ground: string;
  line: string;
  edge: string;
  text: string;
  quiet: string;
  green: string;
  greenSoft: string;
  warning: string;
  warningSoft: string;
}

/** Follows light and dark. */
export const SCREEN: Palette = {
  surface: 'var(--surface)',
  ground: 'var(--ground)',
  line: 'var(--chart-edge)',
  edge: 'var(--chart-edge)',
  text: 'var(--text)',
  quiet: 'var(--quiet)',
  green: 'var(--green)',
  greenSoft: 'var(--green-soft)',
  warning: 'var(--warning)',
  warningSoft: 'var(--warning-soft)',
};

/** What is saved is printed or pasted into a document: always light. */
export const PAPER: Palette = {
  surface: '#ffffff',
  ground: '#f5f7f5',
  line: '#c9d2cc',
  edge: '#a9b5ad',
  text: '#1f1f1f',
  quiet: '#5f6661',
  green: '#2b7a4b',
  greenSoft: '#e6f2ea',
  warning: '#8a4b00',
  warningSoft: '#fff4e0',
};

const PAD = 14;

interface Drawn {
  card: Card;
  palette: Palette;
  t: ChartTexts;
  active?: boolean;
  busy?: boolean;
  /** On paper nothing can be closed; what has more below still says so. */
  paper?: boolean;
}

/** Its texts, cut where they do not fit. */
function textsOf({ name, leader, people, disabled, kind }: Card, t: ChartTexts) {
  const room = CARD.width - 2 * PAD;
  const mark = disabled ? widthOf(t.disabled, 12) + 12 : 0;
  const count = people === undefined ? '' : t.people(people);
  const whole = { name: name || t.nameless, who: kind === 'tenant' ? t.tenant : leader ? t.ledBy(leader) : t.noLeader };
  return {
    whole,
    mark,
    count,
    name: fitted(whole.name, room - mark, 15, 600),
    who: fitted(whole.who, room - (count ? widthOf(count, 13) + 12 : 0), 13),
  };
}

/** What is to be read on it, uncut: for who does not see it, and for who points at it. */
export function saidOf(card: Card, t: ChartTexts): string {
  const { whole, count } = textsOf(card, t);
  return [whole.name, card.disabled && t.disabled, whole.who, count].filter(Boolean).join(t.comma);
}

export const CardDrawing = memo(function CardDrawing({ card, palette, t, active, busy, paper }: Drawn) {
  const { disabled, kind, hasChildren, open } = card;
  const { width, height } = CARD;
  const { whole, mark, name, who, count } = textsOf(card, t);
  const ground = kind === 'tenant' ? palette.greenSoft : disabled ? palette.ground : palette.surface;
  return (
    <g fontFamily={FONT}>
      <rect
        width={width}
        height={height}
        rx={10}
        fill={ground}
        stroke={active || kind === 'tenant' ? palette.green : palette.line}
        strokeWidth={active ? 2.5 : 1}
        {...(disabled && !active ? { strokeDasharray: '5 4', stroke: palette.edge } : {})}
      />
      <text x={PAD} y={32} fontSize={15} fontWeight={600} fill={disabled ? palette.quiet : palette.text}>
        {paper && name !== whole.name && <title>{whole.name}</title>}
        {name}
      </text>
      {disabled && (
        <>
          <rect x={width - PAD - mark + 4} y={17} width={mark - 4} height={20} rx={4} fill={palette.warningSoft} />
          <text x={width - PAD - mark / 2 + 2} y={31} fontSize={12} textAnchor="middle" fill={palette.warning}>
            {t.disabled}
          </text>
        </>
      )}
      <text x={PAD} y={56} fontSize={13} fill={palette.quiet}>
        {who}
      </text>
      {count && (
        <text x={width - PAD} y={56} fontSize={13} textAnchor="end" fill={palette.quiet}>
          {count}
        </text>
      )}
      {hasChildren && kind === 'dept' && !(paper && open) && (
        <Handle open={open} palette={palette} busy={busy === true} />
      )}
    </g>
  );
});

/** Opens and closes what is below. The larger circle, that nobody sees, is for thumbs. */
function Handle({ open, palette, busy }: { open: boolean; palette: Palette; busy: boolean }) {
  return (
    <g transform={`translate(${CARD.width / 2} ${CARD.height})`} data-handle="">
      <circle r={18} fill="transparent" />
      <circle r={10} fill={palette.surface} stroke={palette.green} strokeWidth={1.5} />
      {busy ? (
        [-4, 0, 4].map((x) => <circle key={x} cx={x} r={1.3} fill={palette.green} />)
      ) : (
        <path d={open ? 'M-5 0H5' : 'M-5 0H5M0 -5V5'} stroke={palette.green} strokeWidth={1.8} />
      )}
    </g>
  );
}

/** In the place of the children that were not read. */
export function MoreDrawing({ palette, t, active, busy }: Omit<Drawn, 'card'>) {
  return (
    <g fontFamily={FONT}>
      <rect
        width={CARD.width}
        height={CARD.height}
        rx={10}
        fill={palette.ground}
        stroke={active ? palette.green : palette.edge}
        strokeWidth={active ? 2.5 : 1}
        strokeDasharray="5 4"
      />
      <text x={CARD.width / 2} y={CARD.height / 2 + 5} fontSize={14} textAnchor="middle" fill={palette.text}>
        {busy ? t.reading : t.more}
      </text>
    </g>
  );
}
