import Type, { type Static } from 'typebox';
import { department } from '../departments/record.ts';
import { EnteredPassword, Int, LocalTime, Long, Password, paging, Status, Text } from '../http/fields.ts';
import { tenant } from '../tenants/record.ts';
import { user } from '../users/record.ts';
import { notOffered } from './responses.ts';

/** The bodies and queries that RuoYi's front ends send. Nulls and some empty values are removed before validation (routes.ts). */

const Ids = Type.Array(Long, { maxItems: 100 });
const Anything = Type.Optional(Type.Unknown());

/** Ids separated by commas, in a query. */
const QueryIds = Type.Optional(Type.String({ maxLength: 10_000 }));

export const DeptQuery = Type.Object({
  deptName: Type.Optional(Text(100)),
  status: Type.Optional(Status),
  deptCategory: Type.Optional(Type.String()),
  // The list has no pages, but the screen sends these all the same.
  pageNum: Type.Optional(Type.String()),
  pageSize: Type.Optional(Type.String()),
});

const deptFields = {
  parentId: Type.Optional(Long),
  deptName: Type.Optional(department.fields.deptName.schema),
  orderNum: Type.Optional(department.fields.orderNum.schema),
  leader: Type.Optional(
    Type.Unsafe<number | string>({
      type: ['integer', 'string'],
      minimum: 0,
      maximum: Number.MAX_SAFE_INTEGER,
      maxLength: 50,
    }),
  ),
  phone: Type.Optional(department.fields.phone.schema),
  email: Type.Optional(department.fields.email.schema),
  status: Type.Optional(department.fields.status.schema),
  deptCategory: Anything,
};
export const NewDept = Type.Object(deptFields);
export const ChangedDept = Type.Object({ deptId: Long, ...deptFields });

export const OptionQuery = Type.Object({ deptIds: QueryIds });

export const UserQuery = Type.Object({
  userName: Type.Optional(Text(50)),
  phonenumber: Type.Optional(Text(32)),
  status: Type.Optional(Status),
  deptId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  'params[beginTime]': Type.Optional(LocalTime),
  'params[endTime]': Type.Optional(LocalTime),
  roleId: Type.Optional(Type.String()),
  orderByColumn: Type.Optional(Type.String()),
  isAsc: Type.Optional(Type.String()),
  ...paging,
});

export const UserOptionQuery = Type.Object({ userIds: Type.String({ maxLength: 10_000 }) });

const userFields = {
  deptId: Type.Optional(Long),
  nickName: Type.Optional(user.fields.nickName.schema),
  phonenumber: Type.Optional(user.fields.phone.schema),
  email: Type.Optional(user.fields.email.schema),
  status: Type.Optional(user.fields.status.schema),
  roleIds: Type.Optional(Ids),
  postIds: Anything,
  sex: Anything,
  remark: Anything,
};
const UserName = Type.String({ minLength: 1, maxLength: 50 });
export const NewUser = Type.Object({ userName: UserName, password: Password, ...userFields });
export const ChangedUser = Type.Object({
  userId: Long,
  userName: Type.Optional(UserName),
  password: Type.Optional(Password),
  ...userFields,
});
export type UserFields = Omit<Static<typeof ChangedUser>, 'userId' | 'password'>;

export const UserStatus = Type.Object({ userId: Long, status: Status });
export const NewPassword = Type.Object({ userId: Long, password: Password });
export const UserRoles = Type.Object({ userId: Type.String({ ...Long, type: 'string' }), roleIds: QueryIds });
export const Profile = Type.Object({
  nickName: userFields.nickName,
  phonenumber: userFields.phonenumber,
  email: userFields.email,
  sex: Anything,
});
export const OwnPassword = Type.Object({ oldPassword: EnteredPassword, newPassword: Password });

export const TenantQuery = Type.Object({
  tenantId: Type.Optional(Text(18)),
  contactUserName: Type.Optional(Text(50)),
  contactPhone: Type.Optional(Text(32)),
  companyName: Type.Optional(Text(100)),
  status: Type.Optional(Status),
  orderByColumn: Type.Optional(Type.String()),
  isAsc: Type.Optional(Type.String()),
  ...paging,
});

const tenantFields = {
  companyName: Type.Optional(tenant.fields.companyName.schema),
  contactUserName: Type.Optional(tenant.fields.contactUserName.schema),
  contactPhone: Type.Optional(tenant.fields.contactPhone.schema),
  expireTime: Type.Optional(LocalTime),
  // The form sends what was typed, as a string.
  accountCount: Type.Optional(
    Type.Unsafe<number | string>({
      ...Int({ minimum: -1 }),
      type: ['integer', 'string'],
      pattern: '^(-1|[0-9]{1,9})$',
    }),
  ),
  status: Type.Optional(Status),
  licenseNumber: Anything,
  address: Anything,
  domain: Anything,
  intro: Anything,
  remark: Anything,
  packageId: Anything,
};
export const NewTenant = Type.Object({ ...tenantFields, username: UserName, password: Password });
const TenantId = Type.Unsafe<number | string>({ ...Long });
export const ChangedTenant = Type.Object({ id: TenantId, ...tenantFields });
export type TenantFields = Omit<Static<typeof ChangedTenant>, 'id'>;
export const TenantStatus = Type.Object({ id: TenantId, status: Status });

/**
 * What RuoYi stores and Banyan does not, each with the values that are accepted because nothing is lost. `sex` 2 is "unknown",
 * which reads return.
 */
const notStored: Record<string, readonly unknown[]> = {
  deptCategory: [''],
  roleId: [''],
  orderByColumn: [''],
  isAsc: [''],
  sex: ['', '2'],
  remark: [''],
  licenseNumber: [''],
  address: [''],
  domain: [''],
  intro: [''],
  packageId: [''],
  postIds: [''],
};

/** Throws if a request has a value that would be lost, or a filter that would be ignored. */
export function rejectNotStored(sent: object): void {
  for (const [name, value] of Object.entries(sent)) {
    if (!Object.hasOwn(notStored, name) || value === undefined) continue;
    const isEmptyList = Array.isArray(value) && value.length === 0;
    if (!isEmptyList && !notStored[name]?.includes(value)) throw notOffered(name);
  }
}
