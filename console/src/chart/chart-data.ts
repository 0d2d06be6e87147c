import { api, type Child, type DeptNode } from '../api.ts';
import type { CardNode } from './layout.ts';

/** A department, or the tenant at the root. Children are loaded when a card is expanded. */
export interface Card {
  id: string;
  kind: 'tenant' | 'dept';
  name: string;
  leader: string | null;
  /** Its own users. Undefined if the service does not return it: members must not see it. */
  userCount: number | undefined;
  /** Includes the users of all departments below it. Also undefined for a branch that is too large to be counted. */
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
  /** Identifies root and levels. The viewport is reset when it changes. */
  requestKey: string;
  root: string;
  cards: Map<string, Card>;
  /** Not all requested levels were expanded, because the chart would have too many cards. */
  truncated: boolean;
}

interface ChartRequest {
  /** A department id, or TENANT_ID for the whole tenant. */
  rootId: string;
  tenantName: string;
  /** Members may not, so they see no total for the root. */
  canListUsers: boolean;
  /** The number of department levels that are expanded initially. */
  levels: number;
  /** No more cards are expanded when there are this many. */
  maxCards: number;
  /** The current chart. Cards that are expanded in it stay expanded. */
  previous: ChartData | undefined;
}

export const TENANT_ID = '0';
const PAGE_SIZE = 50;
const CONCURRENCY = 6;

export async function readChart(request: ChartRequest, signal?: AbortSignal): Promise<ChartData> {
  const chart: ChartData = {
    requestKey: `${request.rootId}/${request.levels}`,
    root: request.rootId,
    cards: new Map(),
    truncated: false,
  };
  const { cards } = chart;
  const isWholeTenant = request.rootId === TENANT_ID;
  const rootCard = isWholeTenant ? createTenantCard(request.tenantName) : await readRoot(request, signal);
  cards.set(rootCard.id, rootCard);
  let level = [rootCard];
  // The tenant does not count as a level of departments.
  for (let depth = isWholeTenant ? 0 : 1; level.length > 0; depth++) {
    const expanded: Card[] = [];
    const shouldExpand = ({ id, kind, hasChildren }: Card) =>
      hasChildren && (kind === 'tenant' || (request.previous?.cards.get(id)?.open ?? depth < request.levels));
    const toExpand = level.filter(shouldExpand);
    for (let start = 0; start < toExpand.length; start += CONCURRENCY) {
      if (cards.size >= request.maxCards) {
        chart.truncated = true;
        break;
      }
      const batch = toExpand.slice(start, start + CONCURRENCY);
      const children = await Promise.all(
        batch.map((card) => readChildren(card, request.previous?.cards.get(card.id)?.children?.length, signal)),
      );
      for (const card of children.flat()) cards.set(card.id, card);
      for (const card of batch) card.open = true;
      expanded.push(...batch);
    }
    level = expanded.flatMap(({ children = [] }) => children.map((id) => cards.get(id) as Card));
  }
  return omitTenant(chart);
}

/** With a single top-level department, that department is the root: the tenant's card would add nothing. */
function omitTenant(chart: ChartData): ChartData {
  const tenant = chart.cards.get(TENANT_ID);
  const [onlyChild, ...others] = tenant?.children ?? [];
  if (!onlyChild || others.length > 0 || tenant?.next) return chart;
  chart.cards.delete(TENANT_ID);
  return { ...chart, root: onlyChild };
}

const createTenantCard = (name: string): Card => ({
  id: TENANT_ID,
  kind: 'tenant',
  name,
  leader: null,
  userCount: undefined,
  branchUserCount: undefined,
  disabled: false,
  hasChildren: true,
  open: false,
  next: null,
});

async function readRoot({ rootId, canListUsers }: ChartRequest, signal?: AbortSignal): Promise<Card> {
  const { data } = await api.readTree({ rootId, depth: 1, counts: true }, signal);
  const card = toCard(data[0] as DeptNode);
  if (!canListUsers) return card;
  // The tree has no totals of branches.
  const users = await api.listDepartmentUsers(rootId, { below: true, countOnly: true }, signal);
  return { ...card, branchUserCount: users.data.total };
}

/** Loads at least as many children as before, sets them on the card and returns them. */
async function readChildren(card: Card, minCount = 0, signal?: AbortSignal): Promise<Card[]> {
  card.children = [];
  card.next = null;
  const loaded: Card[] = [];
  do {
    const { next, children } = await readPage(card, signal);
    loaded.push(...children);
    card.children.push(...children.map(({ id }) => id));
    card.next = next;
  } while (card.next && card.children.length < minCount);
  return loaded;
}

async function readPage({ id, next }: Card, signal?: AbortSignal) {
  const { data } = await api.listChildren(
    id,
    { counts: true, branchCounts: true, limit: PAGE_SIZE, ...(next ? { cursor: next } : {}) },
    signal,
  );
  return { next: data.next, children: data.rows.map(toCard) };
}

function toCard({ deptId, deptName, leader, userCount, status, hasChildren, ...dept }: Child | DeptNode): Card {
  const branchUserCount = 'branchUserCount' in dept ? dept.branchUserCount : undefined;
  const fields = { name: deptName, leader, userCount, branchUserCount, disabled: status === '1', hasChildren };
  return { id: String(deptId), kind: 'dept', ...fields, open: false, next: null };
}

/** Loads the next page of a card's children. Returns a function that adds them to the chart and expands the card. */
export async function readNextChildren(card: Card): Promise<(chart: ChartData) => ChartData> {
  const { next, children: newChildren } = await readPage(card);
  return (chart) => {
    const children = [...(card.next ? (card.children ?? []) : []), ...newChildren.map(({ id }) => id)];
    const cards = new Map(chart.cards);
    for (const child of newChildren) cards.set(child.id, child);
    // The children may have been deleted in the meantime.
    cards.set(card.id, { ...card, children, next, open: children.length > 0, hasChildren: children.length > 0 });
    return { ...chart, cards };
  };
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
