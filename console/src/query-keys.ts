import type { QueryKey } from '@tanstack/react-query';
import type { Id } from './api.ts';

/**
 * The keys of all queries. The keys of a domain start with its name, so that invalidating `queryKeys.<domain>.all` refetches
 * all of its queries.
 */
export const queryKeys = {
  version: ['version'],
  search: (q: string) => ['search', q],
  departments: {
    all: ['departments'],
    detail: (id: Id) => ['departments', 'detail', id],
    history: (id: Id, tenantId: string | undefined) => ['departments', 'detail', id, 'history', tenantId],
    path: (id: Id, day: string | undefined) => ['departments', 'detail', id, 'path', day],
    nearestAncestor: (id: Id) => ['departments', 'detail', id, 'nearest-ancestor'],
    batch: (ids: readonly Id[]) => ['departments', 'batch', ids],
    named: (id: Id, tenantId: string | undefined) => ['departments', 'named', id, tenantId],
    treeBatch: (ids: readonly Id[]) => ['departments', 'batch', ids, 'tree'],
    children: (id: Id | undefined, variant: string) => ['departments', 'children', id, variant],
    childPage: (id: Id, cursor: string, limit: number, asOf: string | undefined, reload: number) => [
      'departments',
      'children',
      id,
      'page',
      cursor,
      limit,
      asOf,
      reload,
    ],
    list: (filter: object) => ['departments', 'list', filter],
    users: (id: Id, filter: object) => ['departments', 'users', id, filter],
    chart: (rootId: string, levels: string, day: string | undefined) => ['departments', 'chart', rootId, levels, day],
    diff: (from: string, to: string | null) => ['departments', 'diff', from, to],
    pastTree: (day: string) => ['departments', 'past-tree', day],
  },
  users: {
    all: ['users'],
    detail: (id: Id | null, tenantId: string | undefined, purpose = 'read') => [
      'users',
      'detail',
      id,
      tenantId,
      purpose,
    ],
    list: (filter: object) => ['users', 'list', filter],
    sessions: (id: Id, tenantId: string | undefined) => ['users', 'sessions', id, tenantId],
    logins: (id: Id, tenantId: string | undefined) => ['users', 'logins', id, tenantId],
    allLeaders: ['users', 'leaders'],
    leaders: (id: Id, tenantId: string | undefined) => ['users', 'leaders', id, tenantId],
    history: (id: Id, tenantId: string | undefined) => ['users', 'history', id, tenantId],
  },
  tenants: {
    all: ['tenants'],
    detail: (id: string) => ['tenants', 'detail', id],
    editForm: (id: string) => ['tenants', 'detail', id, 'edit'],
    path: (id: string | undefined) => ['tenants', 'detail', id, 'path'],
    history: (id: Id) => ['tenants', 'history', String(id)],
    nameOn: (id: string, day: string | undefined) => ['tenants', 'detail', id, 'name', day],
    lists: ['tenants', 'list'],
    list: (filter: object) => ['tenants', 'list', filter],
    trees: ['tenants', 'tree'],
    byCode: ['tenants', 'tree', 'by-code'],
    children: (id: string) => ['tenants', 'tree', id],
    subtree: (id: string | undefined) => ['tenants', 'tree', id, 'all'],
  },
  changes: {
    all: ['changes'],
    list: (filter: object) => ['changes', 'list', filter],
    recent: ['changes', 'recent'],
  },
  webhooks: {
    all: ['webhooks'],
    list: ['webhooks', 'list'],
    detail: (id: Id) => ['webhooks', 'detail', String(id)],
    deliveries: (id: Id, filter: object) => ['webhooks', 'detail', String(id), 'deliveries', filter],
  },
  keys: {
    all: ['keys'],
    list: (filter: object) => ['keys', 'list', filter],
  },
  quotas: {
    all: ['quotas'],
    list: (tenantId: string | undefined) => ['quotas', 'list', tenantId],
    below: ['quotas', 'below'],
    usage: (filter: object) => ['quotas', 'usage', filter],
    sums: (filter: object) => ['quotas', 'sums', filter],
    uses: (filter: object) => ['quotas', 'uses', filter],
  },
  /** The records that a form edits. They are read for each form and not refetched: ui/form-query.ts says why. */
  forms: {
    webhook: (id: Id | null) => ['forms', 'webhook', id],
    key: (id: Id | null) => ['forms', 'key', id],
  },
  overview: ['overview'],
  menuNames: ['menu-names'],
  sessions: ['sessions'],
} as const;

/** The query keys that a mutation invalidates, by the domain that it writes to. */
export const affectedBy = {
  /** A move or a new leader changes whom people report to. */
  departments: [queryKeys.departments.all, queryKeys.users.allLeaders, queryKeys.changes.recent, queryKeys.overview],
  /** Departments too: their screens list and count users. */
  users: [queryKeys.users.all, queryKeys.departments.all, queryKeys.changes.recent, queryKeys.overview],
  /** Quotas too: some totals are in the tenant's record. */
  tenants: [queryKeys.tenants.all, queryKeys.quotas.all, queryKeys.changes.recent, queryKeys.overview],
  /** Without the details: the screen of a deleted tenant would refetch it before it closes. */
  tenantLists: [queryKeys.tenants.lists, queryKeys.tenants.trees, queryKeys.changes.recent, queryKeys.overview],
  webhooks: [queryKeys.webhooks.all],
  keys: [queryKeys.keys.all],
  quotas: [queryKeys.quotas.all, queryKeys.overview],
  /** A revert can change departments, users and tenants. Some totals of quotas are in the tenant's record. */
  revert: [
    queryKeys.changes.all,
    queryKeys.departments.all,
    queryKeys.users.all,
    queryKeys.tenants.all,
    queryKeys.quotas.all,
    queryKeys.overview,
  ],
} as const satisfies Record<string, readonly QueryKey[]>;
