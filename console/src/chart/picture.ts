import { api, type Child, type DeptNode } from '../api.ts';
import type { Branch } from './layout.ts';

/** What is known of the tree so far. It is read branch by branch, as far as somebody looks. */
export interface Card {
  id: string;
  kind: 'tenant' | 'dept';
  name: string;
  leader: string | null;
  /** Undefined where the service does not say. */
  people: number | undefined;
  disabled: boolean;
  hasChildren: boolean;
  open: boolean;
  /** Undefined: not read yet. */
  children?: string[];
  /** There are more children than were read. */
  next: string | null;
}

export interface Picture {
  /** Which picture it is: of another one nothing is where it was. */
  wish: string;
  root: string;
  cards: Map<string, Card>;
  /** Not all that was asked for was opened, because it is too much for one picture. */
  cut: boolean;
}

export interface Wish {
  /** 0: the whole tenant. */
  root: string;
  tenantName: string;
  /** How many levels of departments are open at first. */
  levels: number;
  /** Opens no more when there are this many cards. */
  atMost: number;
  /** What is on the screen: what is open there stays open. */
  before: Picture | undefined;
}

export const TENANT = '0';
const PAGE = 50;
const AT_ONCE = 6;

export async function readPicture(wish: Wish, signal?: AbortSignal): Promise<Picture> {
  const picture: Picture = { wish: `${wish.root}/${wish.levels}`, root: wish.root, cards: new Map(), cut: false };
  const { cards } = picture;
  const first = wish.root === TENANT ? theTenant(wish.tenantName) : await readRoot(wish.root, signal);
  cards.set(first.id, first);
  let level = [first];
  // The tenant itself is no level of departments.
  for (let depth = wish.root === TENANT ? 0 : 1; level.length > 0; depth++) {
    const opened: Card[] = [];
    const isWished = ({ id, kind, hasChildren }: Card) =>
      hasChildren && (kind === 'tenant' || (wish.before?.cards.get(id)?.open ?? depth < wish.levels));
    const wished = level.filter(isWished);
    for (let at = 0; at < wished.length; at += AT_ONCE) {
      if (cards.size >= wish.atMost) {
        picture.cut = true;
        break;
      }
      const some = wished.slice(at, at + AT_ONCE);
      await Promise.all(some.map((card) => readBelow(card, wish.before?.cards.get(card.id)?.children?.length, signal)))
        .then((all) => all.flat())
        .then((below) => {
          for (const card of below) cards.set(card.id, card);
          for (const card of some) card.open = true;
          opened.push(...some);
        });
    }
    level = opened.flatMap(({ children = [] }) => children.map((id) => cards.get(id) as Card));
  }
  return withoutTenant(picture);
}

/** One department at the top says it all: the tenant above it would say the same again. */
function withoutTenant(picture: Picture): Picture {
  const tenant = picture.cards.get(TENANT);
  const [only, ...others] = tenant?.children ?? [];
  if (!only || others.length > 0 || tenant?.next) return picture;
  picture.cards.delete(TENANT);
  return { ...picture, root: only };
}

const theTenant = (name: string): Card => ({
  id: TENANT,
  kind: 'tenant',
  name,
  leader: null,
  people: undefined,
  disabled: false,
  hasChildren: true,
  open: false,
  next: null,
});

async function readRoot(rootId: string, signal?: AbortSignal): Promise<Card> {
  const { data } = await api.readTree({ rootId, depth: 1, counts: true }, signal);
  return cardOf(data[0] as DeptNode);
}

/** Reads the children of a card into it, as many as were there before, and tells them. */
async function readBelow(card: Card, before = 0, signal?: AbortSignal): Promise<Card[]> {
  card.children = [];
  card.next = null;
  const read: Card[] = [];
  do {
    const { next, below } = await readPage(card, signal);
    read.push(...below);
    card.children.push(...below.map(({ id }) => id));
    card.next = next;
  } while (card.next && card.children.length < before);
  return read;
}

async function readPage({ id, next }: Card, signal?: AbortSignal) {
  const { data } = await api.listChildren(id, { counts: true, limit: PAGE, ...(next ? { cursor: next } : {}) }, signal);
  return { next: data.next, below: data.rows.map(cardOf) };
}

function cardOf({ deptId, deptName, leader, userCount, status, hasChildren }: Child | DeptNode): Card {
  const facts = { name: deptName, leader, people: userCount, disabled: status === '1', hasChildren };
  return { id: String(deptId), kind: 'dept', ...facts, open: false, next: null };
}

/** The picture with this card open, its children read; or with the next of its children. */
export async function readFurther(card: Card): Promise<(picture: Picture) => Picture> {
  const { next, below } = await readPage(card);
  return (picture) => {
    const children = [...(card.next ? (card.children ?? []) : []), ...below.map(({ id }) => id)];
    const cards = new Map(picture.cards);
    for (const child of below) cards.set(child.id, child);
    // Somebody deleted its children meanwhile: then there is nothing to open.
    cards.set(card.id, { ...card, children, next, open: children.length > 0, hasChildren: children.length > 0 });
    return { ...picture, cards };
  };
}

export function withOpen(picture: Picture, id: string, open: boolean): Picture {
  const card = picture.cards.get(id);
  if (!card) return picture;
  return { ...picture, cards: new Map(picture.cards).set(id, { ...card, open }) };
}

/** Stands for the children that were not read. */
export const moreOf = (id: string) => `more-${id}`;
export const isMore = (id: string) => id.startsWith('more-');
export const ofMore = (id: string) => id.slice('more-'.length);

/** What is to be seen of it. */
export function branchOf({ root, cards }: Picture): Branch {
  const grow = (id: string): Branch => {
    const { open = false, children = [], next = null } = cards.get(id) ?? {};
    if (!open) return { id, children: [] };
    return { id, children: [...children.map(grow), ...(next ? [{ id: moreOf(id), children: [] }] : [])] };
  };
  return grow(root);
}
