import { api, type Child, type DeptNode } from '../api.ts';
import { isApiError } from '../http.ts';
import { endOfDay } from '../ui/day-picker.tsx';
import { type Card, type ChartData, TENANT_CARD_ID } from './chart-data.ts';

interface ChartRequest {
  /** A department id, or TENANT_CARD_ID for the whole tenant. */
  rootId: string;
  tenant: { id: string; name: string };
  /** The day of the past to show; undefined: now. */
  day: string | undefined;
  /** Members may not, so they see no total for the tenant or the root. */
  canListUsers: boolean;
  /** The number of department levels that are shown initially. */
  levels: number;
  /** No more cards are expanded when there are this many. */
  maxCards: number;
  /** The current chart. Cards that are expanded in it stay expanded. */
  previous: ChartData | undefined;
}

const PAGE_SIZE = 50;
const CONCURRENCY = 6;

export async function readChart(request: ChartRequest, signal?: AbortSignal): Promise<ChartData> {
  const chart: ChartData = {
    requestKey: [request.rootId, request.levels, request.day].join('/'),
    root: request.rootId,
    day: request.day,
    cards: new Map(),
    truncated: false,
  };
  const { cards } = chart;
  const isWholeTenant = request.rootId === TENANT_CARD_ID;
  const rootCard = isWholeTenant
    ? createTenantCard(await readTenantName(request, signal))
    : await readRoot(request, signal);
  cards.set(rootCard.id, rootCard);
  let level = [rootCard];
  // The tenant does not count as a level of departments.
  for (let depth = isWholeTenant ? 0 : 1; level.length > 0; depth++) {
    const expanded: Card[] = [];
    const shouldExpand = ({ id, kind, hasChildren }: Card) =>
      hasChildren && (kind === 'tenant' || (request.previous?.cards.get(id)?.open ?? depth < request.levels));
    const toExpand = level.filter(shouldExpand);
    // Cards that the limit has kept closed stay so, like those that the user has closed.
    if (
      request.previous?.truncated &&
      depth < request.levels &&
      level.some((card) => card.hasChildren && !shouldExpand(card))
    )
      chart.truncated = true;
    for (let start = 0; start < toExpand.length; start += CONCURRENCY) {
      if (cards.size >= request.maxCards) {
        chart.truncated = true;
        break;
      }
      const batch = toExpand.slice(start, start + CONCURRENCY);
      const children = await Promise.all(
        batch.map((card) => {
          const minCount = request.previous?.cards.get(card.id)?.children?.length ?? 0;
          return readChildren(card, { day: request.day, minCount }, signal);
        }),
      );
      for (const card of children.flat()) cards.set(card.id, card);
      for (const card of batch) card.open = true;
      expanded.push(...batch);
    }
    level = expanded.flatMap(({ children = [] }) => children.map((id) => cards.get(id) as Card));
  }
  const shown = omitTenant(chart);
  if (shown.root === TENANT_CARD_ID && request.canListUsers && !request.day)
    rootCard.branchUserCount = (await api.listUsers({ pageSize: 1 }, signal)).data.total;
  return shown;
}

/** With a single top-level department, that department is the root: the tenant's card would add nothing. */
function omitTenant(chart: ChartData): ChartData {
  const tenant = chart.cards.get(TENANT_CARD_ID);
  const [onlyChild, ...others] = tenant?.children ?? [];
  if (!onlyChild || others.length > 0 || tenant?.next) return chart;
  chart.cards.delete(TENANT_CARD_ID);
  return { ...chart, root: onlyChild };
}

const createTenantCard = (name: string): Card => ({
  id: TENANT_CARD_ID,
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

/** The name of the tenant on the day. On days before its first change, it has the current name. */
export async function readTenantName(
  { tenant, day }: Pick<ChartRequest, 'tenant' | 'day'>,
  signal?: AbortSignal,
): Promise<string> {
  if (!day) return tenant.name;
  try {
    const { data } = await api.readTenant(tenant.id, signal, { asOf: endOfDay(day) });
    return data.tenantName || tenant.name;
  } catch (error) {
    if (isApiError(error, 'TENANT_NOT_FOUND')) return tenant.name;
    throw error;
  }
}

async function readRoot({ rootId, canListUsers, day }: ChartRequest, signal?: AbortSignal): Promise<Card> {
  const { data } = await api.readTree(
    { rootId, depth: 1, ...(day ? { asOf: endOfDay(day) } : { counts: true }) },
    signal,
  );
  const card = toCard(data[0] as DeptNode);
  if (day || !canListUsers) return card;
  // The tree has no totals of branches.
  const users = await api.listDepartmentUsers(rootId, { below: true, countOnly: true }, signal);
  return { ...card, branchUserCount: users.data.total };
}

/** Loads at least as many children as before, sets them on the card and returns them. */
async function readChildren(
  card: Card,
  { day, minCount }: { day: string | undefined; minCount: number },
  signal?: AbortSignal,
): Promise<Card[]> {
  card.children = [];
  card.next = null;
  const loaded: Card[] = [];
  do {
    const { next, children } = await readPage(card, day, signal);
    loaded.push(...children);
    card.children.push(...children.map(({ id }) => id));
    card.next = next;
  } while (card.next && card.children.length < minCount);
  return loaded;
}

async function readPage({ id, next }: Card, day: string | undefined, signal?: AbortSignal) {
  // The service does not count the users of the past.
  const variant = day ? { asOf: endOfDay(day) } : { counts: true, branchCounts: true };
  const { data } = await api.listChildren(
    id,
    { ...variant, limit: PAGE_SIZE, ...(next ? { cursor: next } : {}) },
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
export async function readNextChildren(card: Card, day: string | undefined): Promise<(chart: ChartData) => ChartData> {
  const { next, children: newChildren } = await readPage(card, day);
  return (chart) => {
    const cards = new Map(chart.cards);
    for (const child of newChildren) cards.set(child.id, child);
    // The chart may have been read again meanwhile, and children may have been deleted.
    const current = chart.cards.get(card.id) ?? card;
    const loaded = (card.next ? (current.children ?? []) : []).filter((id) => cards.has(id));
    const children = [...new Set([...loaded, ...newChildren.map(({ id }) => id)])];
    cards.set(card.id, { ...current, children, next, open: children.length > 0, hasChildren: children.length > 0 });
    return { ...chart, cards };
  };
}
