import { memo } from 'react';
import { FONT_FAMILY } from '../theme.ts';
import { getInitials } from '../ui/initials.ts';
import type { Card } from './chart-data.ts';
import { CARD } from './layout.ts';
import { measureText, truncateText } from './measure-text.ts';
import type { ChartTexts } from './texts.ts';

/** Colours are SVG attributes, not CSS: the same drawing is exported as a standalone file. */
interface Palette {
  containerBg: string;
  layoutBg: string;
  /** The outline of a card. */
  border: string;
  /** Connecting lines and dashed outlines. */
  line: string;
  text: string;
  textSecondary: string;
  primary: string;
  primaryBg: string;
  primaryText: string;
  warningText: string;
  warningBg: string;
}

/** Uses CSS variables, so it follows the light and dark theme. */
export const SCREEN_PALETTE: Palette = {
  containerBg: 'var(--color-bg-container)',
  layoutBg: 'var(--color-bg-layout)',
  border: 'var(--color-chart-line)',
  line: 'var(--color-chart-line)',
  text: 'var(--color-text)',
  textSecondary: 'var(--color-text-secondary)',
  primary: 'var(--color-primary)',
  primaryBg: 'var(--color-primary-bg)',
  primaryText: 'var(--color-primary-text)',
  warningText: 'var(--color-warning-text)',
  warningBg: 'var(--color-warning-bg)',
};

/** Exported charts are printed or pasted into documents, so they are always light. */
export const PRINT_PALETTE: Palette = {
  containerBg: '#ffffff',
  layoutBg: '#f5f7f5',
  border: '#c9d2cc',
  line: '#a9b5ad',
  text: '#1f1f1f',
  textSecondary: '#5f6661',
  primary: '#2b7a4b',
  primaryBg: '#e6f2ea',
  primaryText: '#23693f',
  warningText: '#8a4b00',
  warningBg: '#fff4e0',
};

const PADDING = 14;
const AVATAR_RADIUS = 10;
const AVATAR_WIDTH = 2 * AVATAR_RADIUS + 6;

interface DrawingProps {
  card: Card;
  palette: Palette;
  t: ChartTexts;
  active?: boolean;
  loading?: boolean;
  /** An exported chart has no buttons. Dots below a card stand for children that are not shown. */
  exported?: boolean;
}

/** The texts of a card, truncated to its width. */
function getCardTexts(card: Card, t: ChartTexts) {
  const { name, leader, disabled, kind } = card;
  const width = CARD.width - 2 * PADDING;
  const tagWidth = disabled ? measureText(t.disabled, 12) + 12 : 0;
  // There is room for one number.
  const [count = ''] = getUserCounts(card, t);
  const full = {
    name: name || t.unnamed,
    leader: kind === 'tenant' ? t.tenant : leader ? t.leader(leader) : t.noLeader,
  };
  const initials = kind === 'dept' && leader ? getInitials(leader) : '';
  const leaderWidth = width - (count ? measureText(count, 13) + 12 : 0) - (initials ? AVATAR_WIDTH : 0);
  return {
    full,
    tagWidth,
    count,
    name: truncateText(full.name, width - tagWidth, 15, 600),
    initials,
    // Next to the initials, the name needs no label.
    leader: truncateText(initials ? (leader ?? '') : full.leader, leaderWidth, 13),
  };
}

/** The full text of a card, for screen readers and the tooltip. */
export function describeCard(card: Card, t: ChartTexts): string {
  const { full } = getCardTexts(card, t);
  return [full.name, card.disabled && t.disabled, full.leader, ...getUserCounts(card, t)]
    .filter(Boolean)
    .join(t.separator);
}

/** The users of the whole branch, then those of the department itself if their number differs. */
export function getUserCounts({ userCount, branchUserCount, hasChildren }: Card, t: ChartTexts): string[] {
  const total = branchUserCount ?? (hasChildren ? undefined : userCount);
  const own = userCount === total ? undefined : userCount;
  return [...(total === undefined ? [] : [t.userCount(total)]), ...(own === undefined ? [] : [t.ownUsers(own)])];
}

export const CardDrawing = memo(function CardDrawing({ card, palette, t, active, loading, exported }: DrawingProps) {
  const { disabled, kind, hasChildren, open } = card;
  const { width, height } = CARD;
  const { full, tagWidth, name, leader, initials, count } = getCardTexts(card, t);
  const background = kind === 'tenant' ? palette.primaryBg : disabled ? palette.layoutBg : palette.containerBg;
  return (
    <g fontFamily={FONT_FAMILY}>
      <rect
        width={width}
        height={height}
        rx={10}
        fill={background}
        stroke={active || kind === 'tenant' ? palette.primary : palette.border}
        strokeWidth={active ? 2.5 : 1}
        {...(disabled && !active ? { strokeDasharray: '5 4', stroke: palette.line } : {})}
      />
      <text x={PADDING} y={32} fontSize={15} fontWeight={600} fill={disabled ? palette.textSecondary : palette.text}>
        {exported && name !== full.name && <title>{full.name}</title>}
        {name}
      </text>
      {disabled && (
        <>
          <rect
            x={width - PADDING - tagWidth + 4}
            y={17}
            width={tagWidth - 4}
            height={20}
            rx={4}
            fill={palette.warningBg}
          />
          <text
            x={width - PADDING - tagWidth / 2 + 2}
            y={31}
            fontSize={12}
            textAnchor="middle"
            fill={palette.warningText}
          >
            {t.disabled}
          </text>
        </>
      )}
      {initials && (
        <>
          <circle cx={PADDING + AVATAR_RADIUS} cy={52} r={AVATAR_RADIUS} fill={palette.primaryBg} />
          <text
            x={PADDING + AVATAR_RADIUS}
            y={55}
            fontSize={9}
            fontWeight={600}
            textAnchor="middle"
            fill={palette.primaryText}
          >
            {initials}
          </text>
        </>
      )}
      <text x={PADDING + (initials ? AVATAR_WIDTH : 0)} y={56} fontSize={13} fill={palette.textSecondary}>
        {leader}
      </text>
      {count && (
        <text x={width - PADDING} y={56} fontSize={13} textAnchor="end" fill={palette.textSecondary}>
          {count}
        </text>
      )}
      {hasChildren && kind === 'dept' && exported && !open && (
        <g transform={`translate(${width / 2} ${height + 7})`}>
          {[-7, 0, 7].map((x) => (
            <circle key={x} cx={x} r={1.8} fill={palette.textSecondary} />
          ))}
        </g>
      )}
      {hasChildren && kind === 'dept' && !exported && (
        <ToggleButton open={open} palette={palette} loading={loading === true} />
      )}
    </g>
  );
});

/** Shows and hides the children. The larger transparent circle is the touch target. */
function ToggleButton({ open, palette, loading }: { open: boolean; palette: Palette; loading: boolean }) {
  return (
    <g transform={`translate(${CARD.width / 2} ${CARD.height})`} data-handle="">
      <circle r={18} fill="transparent" />
      <circle r={10} fill={palette.containerBg} stroke={palette.primary} strokeWidth={1.5} />
      {loading ? (
        [-4, 0, 4].map((x) => <circle key={x} cx={x} r={1.3} fill={palette.primary} />)
      ) : (
        <path d={open ? 'M-5 0H5' : 'M-5 0H5M0 -5V5'} stroke={palette.primary} strokeWidth={1.8} />
      )}
    </g>
  );
}

/** Stands for the children that are not loaded yet. */
export function MoreDrawing({ palette, t, active, loading, exported }: Omit<DrawingProps, 'card'>) {
  return (
    <g fontFamily={FONT_FAMILY}>
      <rect
        width={CARD.width}
        height={CARD.height}
        rx={10}
        fill={palette.layoutBg}
        stroke={active ? palette.primary : palette.line}
        strokeWidth={active ? 2.5 : 1}
        strokeDasharray="5 4"
      />
      <text x={CARD.width / 2} y={CARD.height / 2 + 5} fontSize={14} textAnchor="middle" fill={palette.text}>
        {exported ? t.moreHidden : loading ? t.loading : t.more}
      </text>
    </g>
  );
}
