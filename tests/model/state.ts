import type { ApiResponse } from '../support/service.ts';
import type { Body, ExpectedError } from './fields.ts';

/** The state of the model, as plain records. */

interface AuditFields {
  createBy: string;
  updateBy: string;
  /** The number of updates since the creation. */
  version: number;
  deleted: boolean;
}

export interface Dept extends AuditFields {
  deptId: number;
  tenantId: string;
  parentId: number;
  fields: Body & { status: string; deptName: string; orderNum: number };
}

export interface User extends AuditFields {
  userId: number;
  tenantId: string;
  userName: string;
  password: string;
  administrator: boolean;
  deptId: number | null;
  deptIds: number[];
  fields: Body & { status: string };
}

export interface Tenant extends AuditFields {
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
  /** Refresh tokens that have been used. */
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

/** A revision of a record, which its ETag identifies. */
export interface Revision {
  name: string;
  content: string;
  version: number;
}

/** The result of a request that is not rejected. */
export interface Outcome {
  /** Defaults to `null`. */
  data?: unknown;
  /** Checks `data` where the exact value is unknown. */
  matches?: (data: Body) => boolean;
  /** The path of Location without the id of the new record. */
  creates?: string;
  revision?: Revision;
  /** Errors that the documentation allows but does not require. */
  possibleErrors?: ExpectedError[];
  apply?: (response: ApiResponse, readAsRoot: ReadAsRoot) => void | Promise<void>;
}

/** Reads as an administrator of 000000 what a response does not contain, such as the code of a new tenant. */
export type ReadAsRoot = (path: string) => Promise<ApiResponse['data']>;

export interface Operation {
  requiredRole: 'none' | 'user' | 'administrator';
  validate: (request: Request, id: string) => ExpectedError[];
  rule: (state: State, me: User, request: Request, id: string) => Outcome;
}

/** Thrown to reject a request: the service must return one of these errors. */
export class RejectedError extends Error {
  readonly errors: ExpectedError[];
  constructor(errors: ExpectedError[]) {
    super(errors.map(({ reason }) => reason).join(' or '));
    this.errors = errors;
  }
}

/** Rejects when any of these errors applies. The documentation does not say which of several is returned. */
export function rejectIfAny(...errors: (ExpectedError | false | undefined)[]): void {
  const actual = errors.filter((error) => error !== false && error !== undefined);
  if (actual.length > 0) throw new RejectedError(actual);
}

export function reject(reason: string, details: Body = {}): never {
  throw new RejectedError([{ reason, details }]);
}

export class State {
  tenants: Tenant[] = [];
  depts: Dept[] = [];
  users: User[] = [];
  sessions: Session[] = [];
  callers: Partial<Record<CallerName, Session>> = {};
  /** Consecutive failed logins by account. */
  failures = new Map<string, number>();
  private readonly tags = new Map<string, (Revision & { tag: string })[]>();

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

  /** The department and all its existing descendants. */
  subtreeOf = (dept: Dept): Dept[] => [dept, ...this.childrenOf(dept).flatMap(this.subtreeOf)];

  /** The departments from the top down to this one. */
  pathOf(dept: Dept): Dept[] {
    const parent = this.depts.find(({ tenantId, deptId }) => tenantId === dept.tenantId && deptId === dept.parentId);
    return parent ? [...this.pathOf(parent), dept] : [dept];
  }

  /** The tenants from 000000 down to this one. */
  tenantPath(code: string | null): Tenant[] {
    const tenant = this.tenants.find(({ tenantId }) => tenantId === code);
    return tenant ? [...this.tenantPath(tenant.tenantParent), tenant] : [];
  }

  /** Whether a tenant is in the subtree of another, which includes that tenant itself. */
  isInSubtree = (code: string, top: string) => this.tenantPath(code).some(({ tenantId }) => tenantId === top);

  /** Reasons for which this tenant or one above it is out of service today. */
  serviceErrors(code: string): ExpectedError[] {
    const today = new Date().toISOString().slice(0, 10);
    const reasons = this.tenantPath(code).flatMap(({ deleted, fields: { status, startTime, endTime } }) => [
      deleted && 'TENANT_DELETED',
      status === '1' && 'TENANT_DISABLED',
      startTime !== null && startTime > today && 'TENANT_NOT_STARTED',
      endTime !== null && endTime < today && 'TENANT_ENDED',
    ]);
    return reasons.filter((reason) => reason !== false).map((reason) => ({ reason }));
  }

  userOfSession = ({ tenantId, userId }: Session) =>
    this.users.find((user) => user.tenantId === tenantId && user.userId === userId) as User;

  accessErrors(session: Session): ExpectedError[] {
    const user = this.userOfSession(session);
    const own = [
      user.deleted && 'USER_DELETED',
      user.fields.status === '1' && 'USER_DISABLED',
      session.ended && 'SESSION_ENDED',
    ];
    return [
      ...own.filter((reason) => reason !== false).map((reason) => ({ reason })),
      ...this.serviceErrors(session.tenantId),
    ];
  }

  endSessions({ tenantId, userId }: User, except?: Session): void {
    for (const session of this.sessions) {
      if (session !== except && session.tenantId === tenantId && session.userId === userId) session.ended = true;
    }
  }

  copy(): State {
    const { tenants, depts, users, sessions, callers } = this;
    // Clone everything together, because the sessions of callers are shared with the list of sessions.
    return Object.assign(new State(), structuredClone({ tenants, depts, users, sessions, callers }));
  }

  /** Every ETag that the service returned for this record, oldest first. */
  tagsOf = (name: string): string[] => (this.tags.get(name) ?? []).map(({ tag }) => tag);

  /** Records an ETag that the service returned. Returns the problem, if it contradicts earlier ones. */
  recordTag(revision: Revision, tag: unknown): string | undefined {
    if (typeof tag !== 'string' || !/^"[^"]+"$/.test(tag)) return `${tag} is not an ETag`;
    const known = this.tags.get(revision.name) ?? [];
    for (const earlier of known) {
      const same = earlier.content === revision.content;
      if (same && earlier.version === revision.version && earlier.tag !== tag)
        return 'the ETag of an unchanged record changed';
      if (!same && earlier.tag === tag) return 'the ETag of a changed record did not change';
    }
    this.tags.set(revision.name, [...known, { ...revision, tag }]);
    return undefined;
  }

  /**
   * The error that If-Match causes, if any. Two identical writes within a second may produce the same record including
   * its time; then the service may, but need not, return the error.
   */
  ifMatch(header: string | undefined, revision: Revision): { error?: ExpectedError; possibleErrors?: ExpectedError[] } {
    if (header === undefined || header === '*') return {};
    const error = { reason: 'CHANGED_MEANWHILE', details: { revision } };
    const listed = header.split(',').map((tag) => tag.trim());
    const matching = (this.tags.get(revision.name) ?? []).filter(
      ({ tag, content }) => listed.includes(tag) && content === revision.content,
    );
    if (matching.some(({ version }) => version === revision.version)) return {};
    return matching.length > 0 ? { possibleErrors: [error] } : { error };
  }
}

/** The placeholder for times: only their format is compared. */
const TIME = '<time>';
export const showAuditFields = ({ createBy, updateBy, version }: AuditFields) => ({
  createBy,
  createTime: TIME,
  updateBy,
  updateTime: version === 0 ? null : TIME,
});
export const newAuditFields = (me: { userName: string }): AuditFields => ({
  createBy: me.userName,
  updateBy: '',
  version: 0,
  deleted: false,
});
export function touch(record: AuditFields, me: { userName: string }): void {
  record.updateBy = me.userName;
  record.version++;
}

export function pageOf<T>(all: T[], query: Record<string, string>, show: (item: T) => unknown) {
  const pageSize = Number(query.pageSize ?? 20);
  const from = (Number(query.pageNum ?? 1) - 1) * pageSize;
  return { rows: all.slice(from, from + pageSize).map(show), total: all.length };
}

/** Normalizes the order of keys and of the departments of a user, and replaces times. */
export function comparable(value: unknown): string {
  return JSON.stringify(value, (key, inner) => {
    if (/^(create|update)Time$/.test(key) && /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(inner)) return TIME;
    if (key === 'deptIds') return [...inner].sort((a, b) => a - b);
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
}

/** Matches the first page of a list. The cursor is present if there are more rows, but its value is unknown. */
export const firstPage =
  (all: unknown[], limit: number) =>
  ({ rows, next }: Body): boolean =>
    comparable(rows) === comparable(all.slice(0, limit)) &&
    (all.length > limit ? typeof next === 'string' : next === null);

export const contains = (name: string | null, part: string | undefined) =>
  part === undefined || (name?.toLowerCase().includes(part.toLowerCase()) ?? false);
