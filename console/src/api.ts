import type { Static } from 'typebox';
import type { Session as OwnSession, PasswordChange, SessionPage } from '../../server/auth/schema.ts';
import type {
  Child,
  ChildrenFilter,
  ChildrenPage,
  DeptOrder,
  NewDeptIds,
  NewDepts,
  TreeNode,
} from '../../server/branches/schema.ts';
import type { AuditEntry as AuditEntryOut, AuditFilter, AuditPage } from '../../server/changes/schema.ts';
import type { Dept, DeptBatch, DeptFilter, DeptInput, DeptPage, DeptUpdate } from '../../server/departments/schema.ts';
import type { Diff, DiffFilter, LifeEntry, LifeFilter, LifePage } from '../../server/history/schema.ts';
import type { Overview } from '../../server/overview/schema.ts';
import type {
  Tenant,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantPage,
  TenantUpdate,
} from '../../server/tenants/schema.ts';
import type { DeptUserFilter, User, UserFilter, UserInput, UserPage, UserUpdate } from '../../server/users/schema.ts';
import { change, create, read } from './calls.ts';

/** Every operation of the service that the console uses, under the name it has in the OpenAPI document. */

export type {
  AuditFilter,
  Child,
  Dept,
  DeptFilter,
  DeptInput,
  DeptUpdate,
  Diff,
  LifeEntry,
  Overview,
  OwnSession,
  Tenant,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantUpdate,
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
const ledger = '/system/change-api';

type Signal = AbortSignal | undefined;
interface InTenant {
  tenantId?: string | undefined;
}

export const api = {
  listDepartments: (query: DeptFilter, signal?: Signal) =>
    read<Static<typeof DeptPage>>(`${dept}/list`, { query, signal }),
  readDepartment: (id: Id, signal?: Signal) => read<Dept>(`${dept}/${id}`, { signal }),
  readDepartments: (ids: Id[], signal?: Signal) =>
    read<DeptBatch>(`${dept}/batch-read`, { body: { ids }, method: 'POST', signal }),
  /** 0: the top level. With `counts` each row has `userCount`. */
  listChildren: (id: Id, query: ChildrenFilter = {}, signal?: Signal) =>
    read<ChildrenPage>(`${dept}/${id}/children`, { query, signal }),
  readTree: (query: { rootId?: Id; depth?: number; counts?: boolean } = {}, signal?: Signal) =>
    read<DeptNode[]>(`${dept}/tree`, { query, signal }),
  listDepartmentUsers: (id: Id, query: DeptUserFilter = {}, signal?: Signal) =>
    read<Static<typeof UserPage>>(`${dept}/${id}/users`, { query, signal }),
  /** All that was done to it, the latest first. */
  readDepartmentHistory: (id: Id, query: LifeFilter = {}, signal?: Signal) =>
    read<Static<typeof LifePage>>(`${dept}/${id}/history`, { query, signal }),
  /** Without `to`: until now. */
  compareDepartments: (query: DiffFilter, signal?: Signal) => read<Diff>(`${dept}/diff`, { query, signal }),
  createDepartment: (body: DeptInput) => create(dept, body),
  addDepartments: (body: NewDepts) => change<NewDeptIds>('POST', `${dept}/bulk`, { body }),
  updateDepartment: (body: DeptUpdate, ifMatch?: string) => change('PUT', dept, { body, ifMatch }),
  orderDepartments: (body: DeptOrder) => change('PUT', `${dept}/order`, { body }),
  /** All of them or none; with `subtree` one id, and all below it. */
  deleteDepartments: (ids: Id[], { subtree, ifMatch }: { subtree?: boolean; ifMatch?: string } = {}) =>
    change('DELETE', `${dept}/${ids.join(',')}`, { query: { subtree }, ifMatch }),

  listTenants: (query: TenantFilter & { sort?: string; endsBefore?: string }, signal?: Signal) =>
    read<Static<typeof TenantPage>>(`${tenant}/list`, { query, signal }),
  readTenantTree: (query: { rootId?: string; depth?: number } = {}, signal?: Signal) =>
    read<TenantNode>(`${tenant}/tree`, { query, signal }),
  readTenant: (id: Id, signal?: Signal) => read<Tenant>(`${tenant}/${id}`, { signal }),
  createTenant: (body: TenantInput) => create(tenant, body),
  updateTenant: (body: TenantUpdate, ifMatch?: string) => change('PUT', tenant, { body, ifMatch }),
  deleteTenant: (id: Id, ifMatch?: string) => change('DELETE', `${tenant}/${id}`, { ifMatch }),

  listUsers: (query: UserFilter, signal?: Signal) => read<Static<typeof UserPage>>(`${user}/list`, { query, signal }),
  readUser: (id: Id, { tenantId }: InTenant = {}, signal?: Signal) =>
    read<User>(`${user}/${id}`, { query: { tenantId }, signal }),
  createUser: (body: UserInput) => create(user, body),
  updateUser: (body: UserUpdate, ifMatch?: string) => change('PUT', user, { body, ifMatch }),
  deleteUsers: (ids: Id[], { tenantId }: InTenant = {}) =>
    change('DELETE', `${user}/${ids.join(',')}`, { query: { tenantId } }),

  /** The latest first. */
  listChanges: (query: AuditFilter, signal?: Signal) =>
    read<Static<typeof AuditPage>>(`${ledger}/list`, { query, signal }),
  /** With all that the same request did. */
  revertChange: (id: Id, { tenantId }: InTenant = {}) =>
    change('POST', `${ledger}/${id}/revert`, { query: { tenantId } }),

  readOverview: (signal?: Signal) => read<Overview>('/system/overview-api', { signal }),
  changePassword: (body: PasswordChange) => change('PUT', '/auth/password', { body }),
  listSessions: (signal?: Signal) => read<Static<typeof SessionPage>>('/auth/sessions', { signal }),
  endSession: (id: string) => change('DELETE', `/auth/sessions/${id}`),
};
