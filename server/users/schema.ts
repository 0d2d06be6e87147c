import Type, { type Static } from 'typebox';
import {
  Email,
  Long,
  LongOut,
  MAX_IDS,
  optional,
  orNull,
  Page,
  Password,
  paging,
  Status,
  stamps,
  TenantCode,
  Text,
} from '../http/fields.ts';

export const Role = Type.Unsafe<'admin' | 'member'>({ type: 'string', enum: ['admin', 'member'] });

const UserName = Type.String({ minLength: 1, maxLength: 50, description: 'Unique in its tenant, letter case ignored' });

const input = {
  tenantId: optional(TenantCode),
  nickName: optional(Text(50)),
  deptId: optional(Long),
  deptIds: optional(Type.Array(Long, { maxItems: MAX_IDS, description: 'Further departments' })),
  email: optional(Email),
  phone: optional(Text(32)),
  status: optional(Status),
  roles: optional(Type.Array(Role, { minItems: 1, maxItems: 2, default: ['member'] })),
};

export const UserInput = Type.Object({ userName: UserName, password: Password, ...input });
export type UserInput = Static<typeof UserInput>;

export const UserUpdate = Type.Object(
  { userId: Long, userName: optional(UserName), password: optional(Password), ...input },
  { description: 'Full replacement: what is left out takes its default. Only name and password stay when left out.' },
);
export type UserUpdate = Static<typeof UserUpdate>;

export const User = Type.Object({
  userId: LongOut,
  tenantId: Type.String(),
  userName: Type.String(),
  nickName: orNull(Type.String()),
  deptId: orNull(LongOut),
  deptIds: Type.Array(LongOut),
  email: orNull(Type.String()),
  phone: orNull(Type.String()),
  status: Status,
  roles: Type.Array(Role),
  ...stamps,
});
export type User = Static<typeof User>;

/** Which tenant an administrator acts in. */
export const InTenant = Type.Object({
  tenantId: Type.Optional(
    Type.String({ ...TenantCode, description: "The caller's own, or one below it; absent: his own" }),
  ),
});

export const UserFilter = Type.Object({
  ...InTenant.properties,
  userName: Type.Optional(Text(50, 'Part of the name, letter case ignored')),
  deptId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  status: Type.Optional(Status),
  q: Type.Optional(Text(50, 'Part of the user name, the nick name (letter case ignored) or the phone')),
  ...paging,
});
export type UserFilter = Static<typeof UserFilter>;

export const DeptUserFilter = Type.Object({
  below: Type.Optional(Type.Boolean({ default: false, description: 'Also those of all departments below' })),
  countOnly: Type.Optional(Type.Boolean({ default: false, description: '`total` alone, without rows' })),
  ...paging,
});
export type DeptUserFilter = Static<typeof DeptUserFilter>;

export const UserPage = Page(User);
