import type { CardNode } from './layout.ts';

export const TENANT_CARD_ID = '0';

/** A department, or the tenant at the root. Children are loaded when a card is expanded. */
export interface Card {
  id: string;
  kind: 'tenant' | 'dept';
  name: string;
  leader: string | null;
  /** Its own users. Undefined for the tenant, and on past days: the service does not count the users of the past. */
  userCount: number | undefined;
  /**
   * Includes the users of all departments below it. Undefined on past days, and if the departments of a page and those below them
   * are too many to be counted. Also undefined for the requested root if the user is not an administrator.
   */
  branchUserCount: number | undefined;
  disabled: boolean;
  hasChildren: boolean;
  open: boolean;
  /** Undefined until they are loaded. */
  children?: string[];
  /** The cursor of the next page of children; null if all are loaded. */
  next: string | null;
}

export interface ChartData {
  /** Identifies root, levels and day. The viewport is reset when it changes. */
  requestKey: string;
  root: string;
  /** The chart shows the end of this day; undefined: now. */
  day: string | undefined;
  cards: Map<string, Card>;
  /** Not all requested levels were expanded, because the chart would have too many cards. */
  truncated: boolean;
}

export function setOpen(chart: ChartData, id: string, open: boolean): ChartData {
  const card = chart.cards.get(id);
  if (!card) return chart;
  return { ...chart, cards: new Map(chart.cards).set(id, { ...card, open }) };
}

/** The id of the card that stands for the children of `id` that are not loaded yet. */
const getMoreId = (id: string) => `more-${id}`;
export const isMoreCard = (id: string) => id.startsWith('more-');
export const getMoreParent = (id: string) => id.slice('more-'.length);

/** The visible part of the tree, for the layout. */
export function toCardTree({ root, cards }: ChartData): CardNode {
  const build = (id: string): CardNode => {
    const { open = false, children = [], next = null } = cards.get(id) ?? {};
    if (!open) return { id, children: [] };
    return { id, children: [...children.map(build), ...(next ? [{ id: getMoreId(id), children: [] }] : [])] };
  };
  return build(root);
}
