/** What the documents say of bodies and queries: which fields there are, and which values they take. */

export type Body = Record<string, unknown>;

/** Facts are compared where they are given here; others may come with them. */
export interface Refusal {
  reason: string;
  facts?: Body;
}

type Check = (value: unknown) => boolean;
export interface Form {
  [field: string]: Check | Form;
}

const text =
  (most: number, least = 0): Check =>
  (value) =>
    typeof value === 'string' &&
    value.isWellFormed() &&
    !value.includes('\0') &&
    [...value].length >= least &&
    [...value].length <= most;
const digits =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'string' && new RegExp(`^[0-9]{${least},${most}}$`).test(value);
const whole =
  (least = -(2 ** 31), most = 2 ** 31 - 1): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most;
const either =
  (...checks: Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const every =
  (check: Check, least: number, most: number): Check =>
  (value) =>
    Array.isArray(value) && value.length >= least && value.length <= most && value.every(check);

/** Outside of a path it fits into 64 bits. */
const longText: Check = (value) => digits(1, 19)(value) && BigInt(value as string) < 2n ** 63n;
const long = either(whole(0, Number.MAX_SAFE_INTEGER), longText);
const status: Check = (value) => value === '0' || value === '1';
const email: Check = (value) => text(254)(value) && /^$|^[^\s@]+@[^\s@]+$/.test(value as string);
const code = digits(6, 18);
const date: Check = (value) =>
  typeof value === 'string' &&
  /^\d{4}-\d\d-\d\d$/.test(value) &&
  !Number.isNaN(Date.parse(value)) &&
  new Date(value).toISOString().startsWith(value);
const menuIds: Check = (value) => text(65_536)(value) && /^ *(\d+ *(, *\d+ *)*)?$/.test(value as string);
const role: Check = (value) => value === 'admin' || value === 'member';

export const SHOWN_QUOTAS = [
  'enterpriseQuery',
  'annualReportQuery',
  'chainReport',
  'businessReport',
  'riskReport',
  'merchant',
];
export const QUOTAS = [...SHOWN_QUOTAS, 'riskReportUsed', 'zr', 'credit', 'pf'];
export const RULES = ['modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf', 'catalogEd', 'catalogRw'];
const each = (names: string[], check: Check): Form => Object.fromEntries(names.map((name) => [name, check]));

const dept: Form = {
  parentId: long,
  deptName: text(100),
  orderNum: whole(),
  leader: text(50),
  phone: text(32),
  email,
  status,
  tenantId: text(Number.MAX_SAFE_INTEGER),
};
const user: Form = {
  tenantId: code,
  userName: text(50, 1),
  password: text(128, 8),
  nickName: text(50),
  deptId: long,
  deptIds: every(long, 0, 500),
  email,
  phone: text(32),
  status,
  roles: every(role, 1, 2),
};
const tenant: Form = {
  tenantName: text(100),
  tenantParent: code,
  startTime: date,
  endTime: date,
  contactUserName: text(50),
  contactPhone: text(32),
  companyName: text(100),
  status,
  accountCount: whole(-1),
  packageBo: { menuIds },
  quotaBo: each(QUOTAS, whole(0)),
  ruleBo: each(RULES, text(65_536)),
};
const number =
  (least: number, most: number): Check =>
  (value) =>
    /^\d+$/.test(String(value)) && Number(value) >= least && Number(value) <= most;
const flag: Check = (value) => value === 'true' || value === 'false';
const paging: Form = { pageNum: number(1, 1_000_000_000), pageSize: number(1, 500) };

export const forms = {
  dept,
  deptUpdate: { deptId: long, ...dept },
  deptList: {
    deptName: text(100),
    leader: text(50),
    status,
    parentId: longText,
    underId: longText,
    withPath: flag,
    ...paging,
  },
  deptRemoval: { subtree: flag },
  deptIds: { ids: every(long, 0, 500) },
  deptOrder: { parentId: long, deptIds: every(long, 1, 10_000) },
  deptBulk: { parentId: long, departments: every(() => true, 1, 10_000) },
  deptUsers: { below: flag, countOnly: flag, ...paging },
  children: { limit: number(1, 500), counts: flag },
  tree: { rootId: longText, depth: number(1, 2_147_483_646), counts: flag },
  user,
  userUpdate: { userId: long, ...user },
  userList: { tenantId: code, userName: text(50), deptId: longText, status, ...paging },
  inTenant: { tenantId: code },
  tenant: { ...tenant, username: text(50, 1), password: text(128, 8) },
  tenantUpdate: { id: digits(1, 19), ...tenant },
  tenantList: { tenantName: text(100), tenantId: text(18), status, tenantParent: text(18), ...paging },
  password: { oldPassword: text(128), newPassword: text(128, 8) },
} satisfies Record<string, Form>;

/** `null` counts as not sent, for every field. */
export const isSent = (value: unknown): boolean => value !== undefined && value !== null;

/** Everything that is wrong with a body; the service names one of it. */
export function faultsOf(form: Form, body: unknown, required: string[] = []): Refusal[] {
  if (!isSent(body)) return [{ reason: 'BODY_REQUIRED' }, ...(body === null ? [{ reason: 'INVALID_FIELD' }] : [])];
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [{ reason: 'INVALID_FIELD' }];
  const sent = body as Body;
  return [
    ...required
      .filter((field) => !isSent(sent[field]))
      .map((field) => ({ reason: 'FIELD_REQUIRED', facts: { field } })),
    ...wrongFields(form, sent, '').map((field) => ({ reason: 'INVALID_FIELD', facts: { field } })),
  ];
}

function wrongFields(form: Form, body: Body, above: string): string[] {
  return Object.entries(form).flatMap(([field, check]) => {
    const value = body[field];
    if (!isSent(value)) return [];
    if (typeof check === 'function') return check(value) ? [] : [above + field];
    const isObject = typeof value === 'object' && !Array.isArray(value);
    return isObject ? wrongFields(check, value as Body, `${above}${field}.`) : [above + field];
  });
}

/** Of a query; an empty value counts as not set. */
export const queryFaults = (form: Form, query: Record<string, string>): Refusal[] =>
  faultsOf(form, withoutEmpty(query));

export const withoutEmpty = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

/** One id in a path. */
export const idFaults = (id: string): Refusal[] => (/^\d{1,19}$/.test(id) ? [] : [{ reason: 'INVALID_FIELD' }]);

/** One id or several; with several no If-Match. */
export function idsFaults(ids: string, ifMatch: string | undefined): Refusal[] {
  const distinct = new Set(ids.split(','));
  if (![...distinct].every((id) => /^\d{1,19}$/.test(id))) return [{ reason: 'INVALID_FIELD' }];
  if (distinct.size > 500) return [{ reason: 'TOO_MANY_IDS' }];
  return distinct.size > 1 && ifMatch !== undefined ? [{ reason: 'INVALID_FIELD', facts: { field: 'If-Match' } }] : [];
}
