import type { Static } from 'typebox';
import type { PasswordChange } from '../../server/account/schema.ts';
import type { Session as OwnSession, SessionPage } from '../../server/auth/schema.ts';
import type {
  Diff,
  DiffFilter,
  TimelineEntry,
  TimelineFilter,
  TimelinePage,
} from '../../server/departments/history/schema.ts';
import type { Dept, DeptBatch, DeptFilter, DeptInput, DeptPage, DeptUpdate } from '../../server/departments/schema.ts';
import type { Child, ChildrenFilter, ChildrenPage, DeptOrder, TreeNode } from '../../server/departments/tree/schema.ts';
import type { AuditEntry as AuditEntryOut, AuditFilter, AuditPage } from '../../server/ledger/schema.ts';
import type { Overview } from '../../server/overview/schema.ts';
import type {
  ListedTenant,
  Tenant,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantPage,
  TenantUpdate,
} from '../../server/tenants/schema.ts';
import type { DeptUserFilter, User, UserFilter, UserInput, UserPage, UserUpdate } from '../../server/users/schema.ts';
import { create, read, write } from './request.ts';

export type {
  AuditFilter,
  Child,
  Dept,
  DeptFilter,
  DeptInput,
  DeptUpdate,
  Diff,
  ListedTenant,
  Overview,
  OwnSession,
  Tenant,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantUpdate,
  TimelineEntry,
  User,
  UserFilter,
  UserInput,
  UserUpdate,
};
export type Id = number | string;
export type AuditEntry = Static<typeof AuditEntryOut>;
export type DeptNode = Omit<Static<typeof TreeNode>, 'children'> & { children: DeptNode[] };

const dept = '/system/dept-api';
const tenant = '/system/tenant-api';
const user = '/system/user-api';
const changes = '/system/change-api';

type Signal = AbortSignal | undefined;
interface TenantScope {
  tenantId?: string | undefined;
}

/** Every operation of the service that the console uses, named after its operationId in the OpenAPI document. */
export const api = {
  listDepartments: (query: DeptFilter, signal?: Signal) =>
    read<Static<typeof DeptPage>>(`${dept}/list`, { query, signal }),
  readDepartment: (id: Id, signal?: Signal) => read<Dept>(`${dept}/${id}`, { signal }),
  readDepartments: (ids: Id[], signal?: Signal) =>
    read<DeptBatch>(`${dept}/batch-read`, { body: { ids }, method: 'POST', signal }),
  /** Id 0 stands for the top level. `counts` adds `userCount` to each row. */
  listChildren: (id: Id, query: ChildrenFilter = {}, signal?: Signal) =>
    read<ChildrenPage>(`${dept}/${id}/children`, { query, signal }),
  readTree: (query: { rootId?: Id; depth?: number; counts?: boolean } = {}, signal?: Signal) =>
    read<DeptNode[]>(`${dept}/tree`, { query, signal }),
  listDepartmentUsers: (id: Id, query: DeptUserFilter = {}, signal?: Signal) =>
    read<Static<typeof UserPage>>(`${dept}/${id}/users`, { query, signal }),
  /** The changes of one department, newest first. */
  readDepartmentHistory: (id: Id, query: TimelineFilter = {}, signal?: Signal) =>
    read<Static<typeof TimelinePage>>(`${dept}/${id}/history`, { query, signal }),
  /** Compares two points in time; `to` defaults to now. */
  compareDepartments: (query: DiffFilter, signal?: Signal) => read<Diff>(`${dept}/diff`, { query, signal }),
  createDepartment: (body: DeptInput) => create(dept, body),
  updateDepartment: (body: DeptUpdate, ifMatch?: string) => write('PUT', dept, { body, ifMatch }),
  orderDepartments: (body: DeptOrder) => write('PUT', `${dept}/order`, { body }),
  /**
   * Deletes all of them or none. With `subtree`, `ids` has one id and its whole subtree is deleted. `users` moves their users
   * to `toDeptId`, or deletes them.
   */
  deleteDepartments: (
    ids: Id[],
    query: { subtree?: boolean; users?: 'move' | 'delete'; toDeptId?: number } = {},
    ifMatch?: string,
  ) => write('DELETE', `${dept}/${ids.join(',')}`, { query, ifMatch }),

  listTenants: (query: TenantFilter & { sort?: string; endsBefore?: string }, signal?: Signal) =>
    read<Static<typeof TenantPage>>(`${tenant}/list`, { query, signal }),
  readTenantTree: (query: { rootId?: string; depth?: number } = {}, signal?: Signal) =>
    read<TenantNode>(`${tenant}/tree`, { query, signal }),
  readTenant: (id: Id, signal?: Signal) => read<Tenant>(`${tenant}/${id}`, { signal }),
  createTenant: (body: TenantInput) => create(tenant, body),
  updateTenant: (body: TenantUpdate, ifMatch?: string) => write('PUT', tenant, { body, ifMatch }),
  deleteTenant: (id: Id, ifMatch?: string) => write('DELETE', `${tenant}/${id}`, { ifMatch }),

  listUsers: (query: UserFilter, signal?: Signal) => read<Static<typeof UserPage>>(`${user}/list`, { query, signal }),
  readUser: (id: Id, { tenantId }: TenantScope = {}, signal?: Signal) =>
    read<User>(`${user}/${id}`, { query: { tenantId }, signal }),
  createUser: (body: UserInput) => create(user, body),
  updateUser: (body: UserUpdate, ifMatch?: string) => write('PUT', user, { body, ifMatch }),
  deleteUsers: (ids: Id[], { tenantId }: TenantScope = {}) =>
    write('DELETE', `${user}/${ids.join(',')}`, { query: { tenantId } }),

  /** Newest first. */
  listChanges: (query: AuditFilter, signal?: Signal) =>
    read<Static<typeof AuditPage>>(`${changes}/list`, { query, signal }),
  /** Reverts every change that was made by the same request. */
  revertChange: (id: Id, { tenantId }: TenantScope = {}) =>
    write('POST', `${changes}/${id}/revert`, { query: { tenantId } }),

  readOverview: (signal?: Signal) => read<Overview>('/system/overview-api', { signal }),
  changePassword: (body: PasswordChange) => write('PUT', '/auth/password', { body }),
  listSessions: (signal?: Signal) => read<Static<typeof SessionPage>>('/auth/sessions', { signal }),
  endSession: (id: string) => write('DELETE', `/auth/sessions/${id}`),
};
