import fc from 'fast-check';
import { partial, sometimes, weighted } from './choices.ts';
import { type Body, QUOTAS, RULES } from './fields.ts';

/** Values for fields: mostly valid ones, sometimes invalid ones. The model decides which they are. */

const names = fc.constantFrom('研发', 'Sales', 'sales EAST', '50%_off', 'École', '', '😀'.repeat(100), null);
const status = weighted<string | null>([6, '0'], [3, '1'], [1, null]);
const contact = { phone: fc.constantFrom('13800000000', '', null), email: fc.constantFrom('a@b', '', null) };

export const deptFields = partial<unknown>({
  deptName: names,
  orderNum: fc.constantFrom(0, 1, -1, 2 ** 31 - 1, null),
  leader: fc.constantFrom('张三', 'x'.repeat(50), null),
  ...contact,
  status,
});

export const userNames = fc.constantFrom('ann', 'ANN', 'carol', 'Carol', 'boss', 'élan', 'ÉLAN', 'dora');
export const userFields = partial<unknown>({
  nickName: fc.constantFrom('小', '', null),
  position: fc.constantFrom('经理', '', null),
  ...contact,
  status,
  roles: fc.constantFrom(['admin'], ['member'], ['member', 'admin'], null),
});

export const tenantFields = partial<unknown>({
  tenantName: names,
  contactUserName: fc.constantFrom('李', null),
  contactPhone: fc.constantFrom('+86', null),
  companyName: names,
  status,
  accountCount: fc.constantFrom(-1, 0, 1, 3, 4, 5, null),
  packageBo: fc.constantFrom({ menuIds: '3,1 , 2,1' }, { menuIds: '' }, { menuIds: null }, {}, null),
  quotaBo: sometimes(60, partial(Object.fromEntries(QUOTAS.map((name) => [name, fc.nat(3)])))),
  ruleBo: sometimes(
    60,
    partial<unknown>(Object.fromEntries(RULES.map((name) => [name, fc.constantFrom('{"a":1}', '', null)]))),
  ),
});

/** A period that ends before it starts. */
export const INVALID_PERIOD = { startTime: '2020-01-02', endTime: '2020-01-01' };
export const period = weighted<Body>(
  [14, {}],
  [3, { startTime: '2020-02-29', endTime: '2099-12-31' }],
  [1, { startTime: '2099-01-01', endTime: null }],
  [1, { endTime: '2020-01-01' }],
  [1, INVALID_PERIOD],
);

/** Fields and invalid or read-only values for them; '' stands for the whole body. */
const INVALID_VALUES = {
  dept: [
    ['deptName', 'x'.repeat(101)],
    ['deptName', 5],
    ['deptName', 'a\0b'],
    ['orderNum', 1.5],
    ['orderNum', 2 ** 31],
    ['leader', 'x'.repeat(51)],
    ['phone', 'x'.repeat(33)],
    ['email', 'nowhere'],
    ['email', `${'x'.repeat(254)}@b`],
    ['status', '2'],
    ['status', 0],
    ['parentId', -1],
    ['parentId', 2 ** 53],
    ['parentId', 'x'],
    ['tenantId', 5],
    ['deptId', undefined],
    ['deptId', null],
    ['deptId', 1.5],
    ['ancestors', '0,1,2'],
    ['delFlag', '2'],
    ['', []],
    ['', undefined],
  ],
  user: [
    ['userName', ''],
    ['userName', 'x'.repeat(51)],
    ['userName', undefined],
    ['password', 'short'],
    ['password', null],
    ['nickName', 7],
    ['position', 'x'.repeat(101)],
    ['deptId', 'x'],
    ['deptIds', '5'],
    ['deptIds', ['x']],
    ['roles', ['boss']],
    ['roles', 'admin'],
    ['status', '9'],
    ['email', 'a b@c'],
    ['tenantId', '12'],
    ['userId', undefined],
    ['userId', -1],
    ['createBy', 'me'],
    ['', 'text'],
  ],
  tenant: [
    ['tenantName', 'x'.repeat(101)],
    ['tenantParent', 'abc'],
    ['startTime', '2026-02-30'],
    ['endTime', '2026-1-1'],
    ['status', 1],
    ['accountCount', -2],
    ['accountCount', '5'],
    ['packageBo', { menuIds: '1;2' }],
    ['packageBo', '1,2'],
    ['quotaBo', { merchant: -1 }],
    ['quotaBo', { zr: 0.5 }],
    ['ruleBo', { modelZr: 5 }],
    ['username', 'alone'],
    ['password', 'without a name'],
    ['tenantId', '000000'],
    ['id', undefined],
    ['id', 5],
    ['', null],
  ],
} satisfies Record<string, [field: string, value: unknown][]>;

type Mutation = [field: string, value: unknown] | undefined;
export const someMutation = (kind: keyof typeof INVALID_VALUES): fc.Arbitrary<Mutation> =>
  sometimes(6, fc.constantFrom(...(INVALID_VALUES[kind] as [string, unknown][])));

export function mutate(body: Body, mutation: Mutation): unknown {
  if (!mutation) return body;
  const [field, value] = mutation;
  return field === '' ? value : { ...body, [field]: value };
}
