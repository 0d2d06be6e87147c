/** The fields of bodies and queries and their valid values, as documented. */

export type Body = Record<string, unknown>;

/** An error that the service may return. Only the details given here are compared; a response may have more. */
export interface ExpectedError {
  reason: string;
  details?: Body;
}

type Check = (value: unknown) => boolean;
export interface Schema {
  [field: string]: Check | Schema;
}

const text =
  (max: number, min = 0): Check =>
  (value) =>
    typeof value === 'string' &&
    value.isWellFormed() &&
    !value.includes('\0') &&
    [...value].length >= min &&
    [...value].length <= max;
const digits =
  (min: number, max: number): Check =>
  (value) =>
    typeof value === 'string' && new RegExp(`^[0-9]{${min},${max}}$`).test(value);
const integer =
  (min = -(2 ** 31), max = 2 ** 31 - 1): Check =>
  (value) =>
    Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
const anyOf =
  (...checks: Check[]): Check =>
  (value) =>
    checks.some((check) => check(value));
const arrayOf =
  (check: Check, min: number, max: number): Check =>
  (value) =>
    Array.isArray(value) && value.length >= min && value.length <= max && value.every(check);

/** Outside of paths an id must fit into 64 bits. */
const longText: Check = (value) => digits(1, 19)(value) && BigInt(value as string) < 2n ** 63n;
const long = anyOf(integer(0, Number.MAX_SAFE_INTEGER), longText);
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
const each = (names: string[], check: Check): Schema => Object.fromEntries(names.map((name) => [name, check]));

const dept: Schema = {
  parentId: long,
  deptName: text(100),
  orderNum: integer(),
  leader: text(50),
  phone: text(32),
  email,
  status,
  tenantId: text(Number.MAX_SAFE_INTEGER),
};
const user: Schema = {
  tenantId: code,
  userName: text(50, 1),
  password: text(128, 8),
  nickName: text(50),
  position: text(100),
  deptId: long,
  deptIds: arrayOf(long, 0, 500),
  email,
  phone: text(32),
  status,
  roles: arrayOf(role, 1, 2),
};
const tenant: Schema = {
  tenantName: text(100),
  tenantParent: code,
  startTime: date,
  endTime: date,
  contactUserName: text(50),
  contactPhone: text(32),
  companyName: text(100),
  status,
  accountCount: integer(-1),
  packageBo: { menuIds },
  quotaBo: each(QUOTAS, integer(0)),
  ruleBo: each(RULES, text(65_536)),
};
const numberText =
  (min: number, max: number): Check =>
  (value) =>
    /^\d+$/.test(String(value)) && Number(value) >= min && Number(value) <= max;
const flag: Check = (value) => value === 'true' || value === 'false';
const paging: Schema = { pageNum: numberText(1, 1_000_000_000), pageSize: numberText(1, 500) };

export const schemas = {
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
  deptIds: { ids: arrayOf(long, 0, 500) },
  deptOrder: { parentId: long, deptIds: arrayOf(long, 1, 10_000) },
  deptBulk: { parentId: long, departments: arrayOf(() => true, 1, 10_000) },
  deptUsers: { below: flag, countOnly: flag, ...paging },
  children: { limit: numberText(1, 500), counts: flag, branchCounts: flag },
  tree: { rootId: longText, depth: numberText(1, 2_147_483_646), counts: flag },
  user,
  userUpdate: { userId: long, ...user },
  userList: { tenantId: code, userName: text(50), deptId: longText, status, ...paging },
  inTenant: { tenantId: code },
  tenant: { ...tenant, username: text(50, 1), password: text(128, 8) },
  tenantUpdate: { id: digits(1, 19), ...tenant },
  tenantList: { tenantName: text(100), tenantId: text(18), status, tenantParent: text(18), ...paging },
  password: { oldPassword: text(128), newPassword: text(128, 8) },
} satisfies Record<string, Schema>;

/** `null` counts as missing, except that it erases the position of a user (users.ts). */
export const isPresent = (value: unknown): boolean => value !== undefined && value !== null;

/** All errors of a body. The service returns one of them. */
export function bodyErrors(schema: Schema, body: unknown, required: string[] = []): ExpectedError[] {
  if (!isPresent(body)) return [{ reason: 'BODY_REQUIRED' }, ...(body === null ? [{ reason: 'INVALID_FIELD' }] : [])];
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return [{ reason: 'INVALID_FIELD' }];
  const sent = body as Body;
  return [
    ...required
      .filter((field) => !isPresent(sent[field]))
      .map((field) => ({ reason: 'FIELD_REQUIRED', details: { field } })),
    ...invalidFields(schema, sent, '').map((field) => ({ reason: 'INVALID_FIELD', details: { field } })),
  ];
}

function invalidFields(schema: Schema, body: Body, prefix: string): string[] {
  return Object.entries(schema).flatMap(([field, check]) => {
    const value = body[field];
    if (!isPresent(value)) return [];
    if (typeof check === 'function') return check(value) ? [] : [prefix + field];
    const isObject = typeof value === 'object' && !Array.isArray(value);
    return isObject ? invalidFields(check, value as Body, `${prefix}${field}.`) : [prefix + field];
  });
}

/** All errors of a query. An empty value counts as missing. */
export const queryErrors = (schema: Schema, query: Record<string, string>): ExpectedError[] =>
  bodyErrors(schema, withoutEmpty(query));

export const withoutEmpty = (query: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ''));

/** Errors of a single id in a path. */
export const idErrors = (id: string): ExpectedError[] => (/^\d{1,19}$/.test(id) ? [] : [{ reason: 'INVALID_FIELD' }]);

/** Errors of one or several ids in a path. If-Match is invalid with several ids. */
export function idListErrors(ids: string, ifMatch: string | undefined): ExpectedError[] {
  const distinct = new Set(ids.split(','));
  if (![...distinct].every((id) => /^\d{1,19}$/.test(id))) return [{ reason: 'INVALID_FIELD' }];
  if (distinct.size > 500) return [{ reason: 'TOO_MANY_IDS' }];
  return distinct.size > 1 && ifMatch !== undefined
    ? [{ reason: 'INVALID_FIELD', details: { field: 'If-Match' } }]
    : [];
}
