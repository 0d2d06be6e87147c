import type {
  AuditEntry,
  DepartmentChild as Child,
  WebhookDelivery as Delivery,
  Department as Dept,
  DepartmentInput as DeptInput,
  DepartmentUpdate as DeptUpdate,
  IdParam as Id,
  ImportPreview,
  ImportResult,
  Key,
  KeyInput,
  KeyRotation,
  KeySecret,
  KeyUpdate,
  ListedTenant,
  Notice,
  Operations,
  Overview,
  Session as OwnSession,
  ParamsOf,
  Quota,
  QuotaInput,
  QuotaUse,
  SearchHit,
  Tenant,
  TenantInput,
  TenantNode,
  TenantUpdate,
  User,
  UserInput,
  UserUpdate,
  Webhook,
  WebhookInput,
  WebhookSecret,
  WebhookUpdate,
} from '../../client/src/main.ts';
import { type DownloadedFile, readFile } from './http.ts';
import { client } from './request.ts';

export type {
  AuditEntry,
  Child,
  Delivery,
  Dept,
  DeptInput,
  DeptUpdate,
  DownloadedFile,
  Id,
  ImportPreview,
  ImportResult,
  Key,
  KeyInput,
  KeySecret,
  ListedTenant,
  Notice,
  Overview,
  OwnSession,
  Quota,
  QuotaInput,
  QuotaUse,
  SearchHit,
  Tenant,
  TenantInput,
  TenantNode,
  TenantUpdate,
  User,
  UserInput,
  UserUpdate,
  Webhook,
  WebhookInput,
  WebhookSecret,
};
export type AuditFilter = ParamsOf<'listChanges'>;
export type DeliveryState = Delivery['state'];
export type DeptFilter = ParamsOf<'listDepartments'>;
export type DeptNode = Operations['readTree']['data'][number];
export type Diff = Operations['compareDepartments']['data'];
export type Format = NonNullable<ParamsOf<'exportUsers'>['format']>;
export type ImportKind = 'departments' | 'people';
export type KeyFilter = ParamsOf<'listKeys'>;
export type QuotaBelow = Operations['listQuotasBelow']['data']['rows'][number];
export type QuotaPeriod = Quota['period'];
export type TenantFilter = ParamsOf<'listTenants'>;
export type UsageFilter = ParamsOf<'readUsage'>;
export type UsageSum = Operations['readUsage']['data'][number];
export type UserFilter = ParamsOf<'listUsers'>;

type Signal = AbortSignal | undefined;
/** The parameters of an operation besides `id` and the body. */
type Query<Name extends keyof Operations> = Omit<ParamsOf<Name>, 'id' | 'body'>;
interface TenantScope {
  tenantId?: string | undefined;
}

const idOf = async (created: Promise<{ id: string }>): Promise<string> => (await created).id;
const dataOf = async <T>(written: Promise<{ data: T }>): Promise<T> => (await written).data;

const fileOf = async (sent: Promise<{ data: Response }>): Promise<DownloadedFile> => readFile((await sent).data);

/** Imports respond with a file or an event stream if the caller asks for one; the client's types know only the usual response. */
const responseOf = async (sent: Promise<{ data: unknown }>) => (await sent).data as Response;

const importOf = (kind: ImportKind) => (kind === 'people' ? client.importUsers : client.importDepartments);

/**
 * The operations that the screens use, named after their operationId in the OpenAPI document. Those of imports have names of
 * their own, because each serves departments and users.
 */
export const api = {
  readMe: (signal?: Signal) => client.readMe({}, { signal }),
  readVersion: (signal?: Signal) => client.readVersion({}, { signal }),

  listDepartments: (query: DeptFilter, signal?: Signal) => client.listDepartments(query, { signal }),
  readDepartment: (id: Id, signal?: Signal, query: Query<'readDepartment'> = {}) =>
    client.readDepartment({ id, ...query }, { signal }),
  readDepartments: (ids: Id[], signal?: Signal, { tenantId }: TenantScope = {}) =>
    client.readDepartments({ tenantId, body: { ids } }, { signal }),
  /** Id 0 stands for the top level. `counts` adds `userCount` to each row. */
  listChildren: (id: Id, query: Query<'listChildren'> = {}, signal?: Signal) =>
    client.listChildren({ id, ...query }, { signal }),
  readTree: (query: ParamsOf<'readTree'> = {}, signal?: Signal) => client.readTree(query, { signal }),
  listDepartmentUsers: (id: Id, query: Query<'listDepartmentUsers'> = {}, signal?: Signal) =>
    client.listDepartmentUsers({ id, ...query }, { signal }),
  /** Compares two points in time; `to` defaults to now. */
  compareDepartments: (query: ParamsOf<'compareDepartments'>, signal?: Signal) =>
    client.compareDepartments(query, { signal }),
  exportDepartments: (query: ParamsOf<'exportDepartments'>) => fileOf(client.exportDepartments(query)),
  createDepartment: (body: DeptInput) => idOf(client.createDepartment({ body })),
  updateDepartment: (body: DeptUpdate, ifMatch?: string) => dataOf(client.updateDepartment({ body }, { ifMatch })),
  orderDepartments: (body: ParamsOf<'orderDepartments'>['body']) => dataOf(client.orderDepartments({ body })),
  /**
   * Deletes all of them or none. With `subtree`, `ids` has one id and its whole subtree is deleted. `users` moves their users
   * to `toDeptId`, or deletes them.
   */
  deleteDepartments: (ids: Id[], query: Query<'deleteDepartments'> = {}, ifMatch?: string) =>
    dataOf(client.deleteDepartments({ id: ids, ...query }, { ifMatch })),

  listTenants: (query: TenantFilter, signal?: Signal) => client.listTenants(query, { signal }),
  exportTenants: (query: ParamsOf<'exportTenants'>) => fileOf(client.exportTenants(query)),
  readTenantTree: (query: ParamsOf<'readTenantTree'> = {}, signal?: Signal) => client.readTenantTree(query, { signal }),
  readTenant: (id: Id, signal?: Signal, query: Query<'readTenant'> = {}) =>
    client.readTenant({ id, ...query }, { signal }),
  createTenant: (body: TenantInput) => idOf(client.createTenant({ body })),
  updateTenant: (body: TenantUpdate, ifMatch?: string) => dataOf(client.updateTenant({ body }, { ifMatch })),
  patchTenant: (id: Id, body: ParamsOf<'patchTenant'>['body'], ifMatch?: string) =>
    dataOf(client.patchTenant({ id, body }, { ifMatch })),
  deleteTenant: (id: Id, ifMatch?: string) => dataOf(client.deleteTenant({ id }, { ifMatch })),

  listUsers: (query: UserFilter, signal?: Signal) => client.listUsers(query, { signal }),
  exportUsers: (query: ParamsOf<'exportUsers'>) => fileOf(client.exportUsers(query)),
  readUser: (id: Id, { tenantId }: TenantScope = {}, signal?: Signal) => client.readUser({ id, tenantId }, { signal }),
  readUsers: (ids: Id[], signal?: Signal, { tenantId }: TenantScope = {}) =>
    client.readUsers({ tenantId, body: { ids } }, { signal }),
  createUser: (body: UserInput) => idOf(client.createUser({ body })),
  updateUser: (body: UserUpdate, ifMatch?: string) => dataOf(client.updateUser({ body }, { ifMatch })),
  listUserSessions: (id: Id, { tenantId }: TenantScope = {}, signal?: Signal) =>
    client.listUserSessions({ id, tenantId }, { signal }),
  /** Ends one session of a user, or all of them. */
  endUserSessions: (id: Id, query: TenantScope & { sessionId?: string } = {}) =>
    dataOf(client.endUserSessions({ id, ...query })),
  readLeaders: (id: Id, { tenantId }: TenantScope = {}, signal?: Signal) =>
    client.readLeaders({ id, tenantId }, { signal }),
  deleteUsers: (ids: Id[], { tenantId }: TenantScope = {}) => dataOf(client.deleteUsers({ id: ids, tenantId })),

  /** Newest first. */
  listChanges: (query: AuditFilter, signal?: Signal) => client.listChanges(query, { signal }),
  /** Reverts every change that was made by the same request. */
  revertChange: (id: Id, { tenantId }: TenantScope = {}) => dataOf(client.revertChange({ id, tenantId })),

  /**
   * Restores the department with the departments below that were deleted together with it, but not their users. Without
   * `parentId` it returns to its former parent.
   */
  restoreDepartment: (id: Id, { tenantId }: TenantScope = {}, body: ParamsOf<'restoreDepartment'>['body'] = {}) =>
    dataOf(client.restoreDepartment({ id, tenantId, body })),
  restoreUser: (id: Id, { tenantId }: TenantScope = {}) => dataOf(client.restoreUser({ id, tenantId })),
  restoreTenant: (id: Id) => dataOf(client.restoreTenant({ id })),

  listWebhooks: (signal?: Signal) => client.listWebhooks({}, { signal }),
  readWebhook: (id: Id, signal?: Signal) => client.readWebhook({ id }, { signal }),
  addWebhook: (body: WebhookInput) => dataOf(client.addWebhook({ body })),
  updateWebhook: (body: WebhookUpdate, ifMatch?: string) => dataOf(client.updateWebhook({ body }, { ifMatch })),
  deleteWebhook: (id: Id) => dataOf(client.deleteWebhook({ id })),
  rotateWebhookSecret: (id: Id) => dataOf(client.rotateWebhookSecret({ id })),
  testWebhook: (id: Id) => dataOf(client.testWebhook({ id })),
  /** Newest first. */
  listDeliveries: (id: Id, query: Query<'listDeliveries'> = {}, signal?: Signal) =>
    client.listDeliveries({ id, ...query }, { signal }),
  resendDelivery: (id: Id, deliveryId: Id) => dataOf(client.resendDelivery({ id, deliveryId })),

  listKeys: (query: KeyFilter, signal?: Signal) => client.listKeys(query, { signal }),
  readKey: (id: Id, signal?: Signal) => client.readKey({ id }, { signal }),
  addKey: (body: KeyInput) => dataOf(client.addKey({ body })),
  updateKey: (body: KeyUpdate, ifMatch?: string) => dataOf(client.updateKey({ body }, { ifMatch })),
  rotateKey: (id: Id, body: KeyRotation) => dataOf(client.rotateKey({ id, body })),
  deleteKey: (id: Id) => dataOf(client.deleteKey({ id })),

  listQuotas: ({ tenantId }: TenantScope = {}, signal?: Signal) => client.listQuotas({ tenantId }, { signal }),
  /** The quotas in use of the tenants below. Those that run out first come first. */
  listQuotasBelow: (signal?: Signal) => client.listQuotasBelow({}, { signal }),
  putQuota: (quota: string, body: QuotaInput, { tenantId }: TenantScope) =>
    dataOf(client.putQuota({ quota, tenantId, body })),
  readUsage: (query: UsageFilter, signal?: Signal) => client.readUsage(query, { signal }),
  /** Newest first. */
  listUses: (query: ParamsOf<'listUses'>, signal?: Signal) => client.listUses(query, { signal }),
  refundUse: (useId: Id, { tenantId }: TenantScope = {}) => dataOf(client.refundUse({ useId, tenantId })),

  previewImport: (kind: ImportKind, file: File, { tenantId }: TenantScope = {}) =>
    dataOf(importOf(kind)({ mode: 'preview', tenantId, body: { file } })) as Promise<ImportPreview>,
  /** Returns the file with a column for its errors. */
  readImportErrors: async (kind: ImportKind, file: File, { tenantId }: TenantScope = {}): Promise<DownloadedFile> => {
    const params = { mode: 'preview', report: 'xlsx', tenantId, body: { file } } as const;
    return readFile(await responseOf(importOf(kind)(params, { headers: { accept: '*/*' } })));
  },
  /** Returns a stream of events, or the result if the service responds without a stream. */
  applyImport: (kind: ImportKind, file: File, { tenantId }: TenantScope = {}): Promise<Response | ImportResult> =>
    responseOf(
      importOf(kind)({ mode: 'apply', tenantId, body: { file } }, { headers: { accept: 'text/event-stream' } }),
    ),
  readImportTemplate: (kind: ImportKind) =>
    fileOf(kind === 'people' ? client.readUserTemplate() : client.readDepartmentTemplate()),

  search: (query: ParamsOf<'search'>, signal?: Signal) => client.search(query, { signal }),

  readOverview: (signal?: Signal) => client.readOverview({}, { signal }),
  changePassword: (body: ParamsOf<'changePassword'>['body']) => dataOf(client.changePassword({ body })),
  listSessions: (signal?: Signal) => client.listSessions({}, { signal }),
  endSession: (id: string) => dataOf(client.endSession({ id })),
};
