import type { Answer } from '../support/service.ts';
import type { Body, Refusal } from './fields.ts';

/** What the model knows of the world: plain records, nothing clever. */

export interface Stamps {
  createBy: string;
  updateBy: string;
  /** How often it was written since it was made. */
  version: number;
  deleted: boolean;
}

export interface Dept extends Stamps {
  deptId: number;
  tenantId: string;
  parentId: number;
  fields: Body & { status: string; deptName: string; orderNum: number };
}

export interface User extends Stamps {
  userId: number;
  tenantId: string;
  userName: string;
  password: string;
  administrator: boolean;
  deptId: number | null;
  deptIds: number[];
  fields: Body & { status: string };
}

export interface Tenant extends Stamps {
  id: string;
  tenantId: string;
  tenantParent: string | null;
  fields: Body & {
    tenantName: string | null;
    status: string;
    accountCount: number;
    startTime: string | null;
    endTime: string | null;
  };
  quotas: Record<string, number>;
}

export interface Session {
  tenantId: string;
  userId: number;
  access: string;
  refresh: string;
  /** Refresh tokens that were used. */
  used: string[];
  ended: boolean;
}

export type CallerName = 'above' | 'boss' | 'member' | 'child' | 'sibling' | 'guest' | 'nobody' | 'forger';

export interface Request {
  caller: CallerName;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  query: Record<string, string>;
  body?: unknown;
  key?: string | undefined;
  ifMatch?: string | undefined;
}

/** A record as its ETag stands for it. */
export interface Tagged {
  name: string;
  content: string;
  version: number;
}

/** What a request comes to when nothing refuses it. */
export interface Outcome {
  /** `null` unless said. */
  data?: unknown;
  /** Where `data` cannot be known. */
  form?: (data: Body) => boolean;
  /** The path below which Location names the new record. */
  creates?: string;
  tagged?: Tagged;
  /** The documents leave open whether it is refused so. */
  unsure?: Refusal[];
  apply?: (answer: Answer, ask: Ask) => void | Promise<void>;
}

/** Reads as an administrator of 000000, to learn what an answer doesn't tell: the code of a new tenant. */
export type Ask = (path: string) => Promise<Answer['data']>;

export interface Operation {
  who: 'anybody' | 'user' | 'administrator';
  faults: (request: Request, id: string) => Refusal[];
  rule: (state: State, me: User, request: Request, id: string) => Outcome;
}

/** Thrown to refuse: the service must give one of these reasons. */
export class Refused extends Error {
  readonly refusals: Refusal[];
  constructor(refusals: Refusal[]) {
    super(refusals.map(({ reason }) => reason).join(' or '));
    this.refusals = refusals;
  }
}

/** Refuses when any of these holds. Which of several is told, no document says. */
export function refuseAny(...refusals: (Refusal | false | undefined)[]): void {
  const holding = refusals.filter((refusal) => refusal !== false && refusal !== undefined);
  if (holding.length > 0) throw new Refused(holding);
}

export function refuse(reason: string, facts: Body = {}): never {
  throw new Refused([{ reason, facts }]);
}

export class State {
  tenants: Tenant[] = [];
  depts: Dept[] = [];
  users: User[] = [];
  sessions: Session[] = [];
  callers: Partial<Record<CallerName, Session>> = {};
  /** Failed logins in a row, by account. */
  failures = new Map<string, number>();
  private readonly tags = new Map<string, (Tagged & { tag: string })[]>();

  tenant = (tenantId: string) => this.tenants.find((tenant) => tenant.tenantId === tenantId && !tenant.deleted);
  dept = (tenantId: string, deptId: unknown) =>
    this.deptsOf(tenantId).find((dept) => String(dept.deptId) === String(deptId));
  user = (tenantId: string, userId: unknown) =>
    this.usersOf(tenantId).find((user) => String(user.userId) === String(userId));
  deptsOf = (tenantId: string) => this.depts.filter((dept) => dept.tenantId === tenantId && !dept.deleted);
  usersOf = (tenantId: string) => this.users.filter((user) => user.tenantId === tenantId && !user.deleted);

  childrenOf = ({ tenantId, deptId }: Dept) => this.deptsOf(tenantId).filter((dept) => dept.parentId === deptId);
  membersOf = ({ tenantId, deptId }: Dept) =>
    this.usersOf(tenantId).filter((user) => user.deptId === deptId || user.deptIds.includes(deptId));

  /** The department itself and all that exist below it. */
  branchOf = (dept: Dept): Dept[] => [dept, ...this.childrenOf(dept).flatMap(this.branchOf)];

  /** From the top down to the department itself. */
  pathOf(dept: Dept): Dept[] {
    const parent = this.depts.find(({ tenantId, deptId }) => tenantId === dept.tenantId && deptId === dept.parentId);
    return parent ? [...this.pathOf(parent), dept] : [dept];
  }

  /** From 000000 down to the tenant itself. */
  tenantPath(code: string | null): Tenant[] {
    const tenant = this.tenants.find(({ tenantId }) => tenantId === code);
    return tenant ? [...this.tenantPath(tenant.tenantParent), tenant] : [];
  }

  /** The tenant itself counts. */
  isBelow = (code: string, top: string) => this.tenantPath(code).some(({ tenantId }) => tenantId === top);

  /** For which reasons nobody of this tenant is in service today. */
  standing(code: string): Refusal[] {
    const today = new Date().toISOString().slice(0, 10);
    const reasons = this.tenantPath(code).flatMap(({ deleted, fields: { status, startTime, endTime } }) => [
      deleted && 'TENANT_DELETED',
      status === '1' && 'TENANT_DISABLED',
      startTime !== null && startTime > today && 'TENANT_NOT_STARTED',
      endTime !== null && endTime < today && 'TENANT_ENDED',
    ]);
    return reasons.filter((reason) => reason !== false).map((reason) => ({ reason }));
  }

  holder = ({ tenantId, userId }: Session) =>
    this.users.find((user) => user.tenantId === tenantId && user.userId === userId) as User;

  shutOut(session: Session): Refusal[] {
    const user = this.holder(session);
    const own = [
      user.deleted && 'USER_DELETED',
      user.fields.status === '1' && 'USER_DISABLED',
      session.ended && 'SESSION_ENDED',
    ];
    return [
      ...own.filter((reason) => reason !== false).map((reason) => ({ reason })),
      ...this.standing(session.tenantId),
    ];
  }

  endSessions({ tenantId, userId }: User, except?: Session): void {
    for (const session of this.sessions) {
      if (session !== except && session.tenantId === tenantId && session.userId === userId) session.ended = true;
    }
  }

  copy(): State {
    const { tenants, depts, users, sessions, callers } = this;
    // In one piece: a caller's session is one of the sessions.
    return Object.assign(new State(), structuredClone({ tenants, depts, users, sessions, callers }));
  }

  /** Every tag that was told for this record, oldest first. */
  tagsOf = (name: string): string[] => (this.tags.get(name) ?? []).map(({ tag }) => tag);

  /** Tells what is wrong with a tag that the service gave. */
  noteTag(tagged: Tagged, tag: unknown): string | undefined {
    if (typeof tag !== 'string' || !/^"[^"]+"$/.test(tag)) return `${tag} is no ETag`;
    const known = this.tags.get(tagged.name) ?? [];
    for (const earlier of known) {
      const same = earlier.content === tagged.content;
      if (same && earlier.version === tagged.version && earlier.tag !== tag)
        return 'the ETag of an unchanged record changed';
      if (!same && earlier.tag === tag) return 'the ETag of a changed record stayed';
    }
    this.tags.set(tagged.name, [...known, { ...tagged, tag }]);
    return undefined;
  }

  /**
   * Whether If-Match refuses a write. Two writes of the same within a second may leave the same record, time included:
   * then it may, and need not.
   */
  ifMatch(header: string | undefined, tagged: Tagged): { refusal?: Refusal; unsure?: Refusal[] } {
    if (header === undefined || header === '*') return {};
    const refusal = { reason: 'CHANGED_MEANWHILE', facts: { tagged } };
    const listed = header.split(',').map((tag) => tag.trim());
    const named = (this.tags.get(tagged.name) ?? []).filter(
      ({ tag, content }) => listed.includes(tag) && content === tagged.content,
    );
    if (named.some(({ version }) => version === tagged.version)) return {};
    return named.length > 0 ? { unsure: [refusal] } : { refusal };
  }
}

/** What stands for a time: only its form is compared. */
export const TIME = '<time>';
export const stampsOf = ({ createBy, updateBy, version }: Stamps) => ({
  createBy,
  createTime: TIME,
  updateBy,
  updateTime: version === 0 ? null : TIME,
});
export const newStamps = (me: { userName: string }): Stamps => ({
  createBy: me.userName,
  updateBy: '',
  version: 0,
  deleted: false,
});
export function touch(record: Stamps, me: { userName: string }): void {
  record.updateBy = me.userName;
  record.version++;
}

export function pageOf<T>(all: T[], query: Record<string, string>, show: (item: T) => unknown) {
  const pageSize = Number(query.pageSize ?? 20);
  const from = (Number(query.pageNum ?? 1) - 1) * pageSize;
  return { rows: all.slice(from, from + pageSize).map(show), total: all.length };
}

/** Without the order of keys and of a user's departments, and of times only the form. */
export function comparable(value: unknown): string {
  return JSON.stringify(value, (key, inner) => {
    if (/^(create|update)Time$/.test(key) && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(inner)) return TIME;
    if (key === 'deptIds') return [...inner].sort((a, b) => a - b);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** The first so many, and a cursor, which cannot be known, when there are more. */
export const cutAt =
  (all: unknown[], limit: number) =>
  ({ rows, next }: Body): boolean =>
    comparable(rows) === comparable(all.slice(0, limit)) &&
    (all.length > limit ? typeof next === 'string' : next === null);

export const holds = (name: string | null, part: string | undefined) =>
  part === undefined || (name?.toLowerCase().includes(part.toLowerCase()) ?? false);
