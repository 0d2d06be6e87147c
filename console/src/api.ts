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
import type {
  Dept,
  DeptBatch,
  DeptExportFilter,
  DeptFilter,
  DeptInput,
  DeptPage,
  DeptUpdate,
} from '../../server/departments/schema.ts';
import type { Child, ChildrenFilter, ChildrenPage, DeptOrder, TreeNode } from '../../server/departments/tree/schema.ts';
import type { ImportPreview, ImportResult } from '../../server/imports/schema.ts';
import type { Key, KeyFilter, KeyInput, KeyPage, KeyRotation, KeySecret, KeyUpdate } from '../../server/keys/schema.ts';
import type { AuditEntry as AuditEntryOut, AuditFilter, AuditPage } from '../../server/ledger/schema.ts';
import type { Overview } from '../../server/overview/schema.ts';
import type { Format } from '../../server/spreadsheets/schema.ts';
import type {
  ListedTenant,
  Tenant,
  TenantExportFilter,
  TenantFilter,
  TenantInput,
  TenantNode,
  TenantPage,
  TenantUpdate,
} from '../../server/tenants/schema.ts';
import type {
  DeptUserFilter,
  User,
  UserExportFilter,
  UserFilter,
  UserInput,
  UserPage,
  UserUpdate,
} from '../../server/users/schema.ts';
import type {
  Delivery,
  DeliveryFilter,
  DeliveryPage,
  DeliveryState,
  TestDelivery,
  Webhook,
  WebhookInput,
  WebhookPage,
  WebhookSecret,
  WebhookUpdate,
} from '../../server/webhooks/schema.ts';
import type { DownloadedFile, Query } from './http.ts';
import { create, read, sendForm, write } from './request.ts';

export type {
  AuditFilter,
  Child,
  Delivery,
  DeliveryState,
  Dept,
  DeptFilter,
  DeptInput,
  DeptUpdate,
  Diff,
  DownloadedFile,
  Format,
  ImportPreview,
  ImportResult,
  Key,
  KeyFilter,
  KeyInput,
  KeySecret,
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
  Webhook,
  WebhookInput,
  WebhookSecret,
};
export type Id = number | string;
export type ImportPath = '/system/dept-api' | '/system/user-api';
export type AuditEntry = Static<typeof AuditEntryOut>;
export type DeptNode = Omit<Static<typeof TreeNode>, 'children'> & { children: DeptNode[] };

const dept = '/system/dept-api';
const tenant = '/system/tenant-api';
const user = '/system/user-api';
const changes = '/system/change-api';
const webhook = '/system/webhook-api';
const key = '/system/key-api';

const fileForm = (file: File): FormData => {
  const form = new FormData();
  form.append('file', file);
  return form;
};

type Signal = AbortSignal | undefined;
interface TenantScope {
  tenantId?: string | undefined;
}

const download = async (path: string, query: Query): Promise<DownloadedFile> =>
  (await read<DownloadedFile>(path, { query })).data;

/** Every operation of the service that the console uses, named after its operationId in the OpenAPI document. */
export const api = {
  readVersion: (signal?: Signal) => read<{ version: string }>('/version', { signal }),

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
  exportDepartments: (query: DeptExportFilter) => download(`${dept}/export`, query),
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
  exportTenants: (query: TenantExportFilter) => download(`${tenant}/export`, query),
  readTenantTree: (query: { rootId?: string; depth?: number } = {}, signal?: Signal) =>
    read<TenantNode>(`${tenant}/tree`, { query, signal }),
  readTenant: (id: Id, signal?: Signal) => read<Tenant>(`${tenant}/${id}`, { signal }),
  createTenant: (body: TenantInput) => create(tenant, body),
  updateTenant: (body: TenantUpdate, ifMatch?: string) => write('PUT', tenant, { body, ifMatch }),
  deleteTenant: (id: Id, ifMatch?: string) => write('DELETE', `${tenant}/${id}`, { ifMatch }),

  listUsers: (query: UserFilter, signal?: Signal) => read<Static<typeof UserPage>>(`${user}/list`, { query, signal }),
  exportUsers: (query: UserExportFilter) => download(`${user}/export`, query),
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

  /** Restores the department with everything below it that was deleted together with it. */
  restoreDepartment: (id: Id, { tenantId }: TenantScope = {}) =>
    write('POST', `${dept}/${id}/restore`, { query: { tenantId } }),
  restoreUser: (id: Id, { tenantId }: TenantScope = {}) =>
    write('POST', `${user}/${id}/restore`, { query: { tenantId } }),
  restoreTenant: (id: Id) => write('POST', `${tenant}/${id}/restore`),

  listWebhooks: (signal?: Signal) => read<Static<typeof WebhookPage>>(`${webhook}/list`, { signal }),
  readWebhook: (id: Id, signal?: Signal) => read<Webhook>(`${webhook}/${id}`, { signal }),
  addWebhook: (body: WebhookInput) => write<WebhookSecret>('POST', webhook, { body }),
  updateWebhook: (body: WebhookUpdate, ifMatch?: string) => write('PUT', webhook, { body, ifMatch }),
  deleteWebhook: (id: Id) => write('DELETE', `${webhook}/${id}`),
  rotateWebhookSecret: (id: Id) => write<WebhookSecret>('POST', `${webhook}/${id}/rotate-secret`),
  testWebhook: (id: Id) => write<Static<typeof TestDelivery>>('POST', `${webhook}/${id}/test`),
  /** Newest first. */
  listDeliveries: (id: Id, query: DeliveryFilter = {}, signal?: Signal) =>
    read<Static<typeof DeliveryPage>>(`${webhook}/${id}/deliveries`, { query, signal }),
  resendDelivery: (id: Id, deliveryId: Id) => write('POST', `${webhook}/${id}/deliveries/${deliveryId}/resend`),

  listKeys: (query: KeyFilter, signal?: Signal) => read<Static<typeof KeyPage>>(`${key}/list`, { query, signal }),
  readKey: (id: Id, signal?: Signal) => read<Key>(`${key}/${id}`, { signal }),
  addKey: (body: KeyInput) => write<KeySecret>('POST', key, { body }),
  updateKey: (body: KeyUpdate, ifMatch?: string) => write('PUT', key, { body, ifMatch }),
  rotateKey: (id: Id, body: KeyRotation) => write<KeySecret>('POST', `${key}/${id}/rotate`, { body }),
  deleteKey: (id: Id) => write('DELETE', `${key}/${id}`),

  /** `path` is that of departments or users. */
  previewImport: async (path: ImportPath, file: File, { tenantId }: TenantScope = {}): Promise<ImportPreview> => {
    const query = { mode: 'preview', tenantId };
    const response = await sendForm('POST', `${path}/import`, { query, body: fileForm(file) });
    return ((await response.json()) as { data: ImportPreview }).data;
  },
  /** Returns the file with a column for its errors. */
  readImportErrors: async (path: ImportPath, file: File, { tenantId }: TenantScope = {}): Promise<Blob> => {
    const query = { mode: 'preview', report: 'xlsx', tenantId };
    return (await sendForm('POST', `${path}/import`, { query, body: fileForm(file) })).blob();
  },
  /** The response is a stream of events. */
  applyImport: (path: ImportPath, file: File, { tenantId }: TenantScope = {}): Promise<Response> =>
    sendForm('POST', `${path}/import`, {
      query: { mode: 'apply', tenantId },
      body: fileForm(file),
      accept: 'text/event-stream',
    }),
  readImportTemplate: async (path: ImportPath): Promise<Blob> =>
    (await sendForm('GET', `${path}/import/template`, { query: { format: 'xlsx' } })).blob(),

  readOverview: (signal?: Signal) => read<Overview>('/system/overview-api', { signal }),
  changePassword: (body: PasswordChange) => write('PUT', '/auth/password', { body }),
  listSessions: (signal?: Signal) => read<Static<typeof SessionPage>>('/auth/sessions', { signal }),
  endSession: (id: string) => write('DELETE', `/auth/sessions/${id}`),
};
