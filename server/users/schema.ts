import Type, { type Static } from 'typebox';
import {
  auditFields,
  Long,
  LongOut,
  MAX_IDS,
  optional,
  orNull,
  Page,
  Password,
  paging,
  Status,
  TenantCode,
  TenantQuery,
  Text,
} from '../http/fields.ts';
import { user } from './record.ts';

export const Role = Type.Unsafe<'admin' | 'member'>({ type: 'string', enum: ['admin', 'member'] });

const UserName = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'Unique in its tenant, case-insensitive. A new name follows RFC 8265 (UsernameCaseMapped)',
});

const input = {
  tenantId: optional(TenantCode),
  ...user.input,
  deptId: optional(Long),
  deptIds: optional(Type.Array(Long, { maxItems: MAX_IDS, description: 'Further departments' })),
  roles: optional(Type.Array(Role, { minItems: 1, maxItems: 2, default: ['member'] })),
  mustChangePassword: optional(
    Type.Boolean({
      description:
        'The user must change their password before they can do anything else. Omitted: false with a new password, otherwise unchanged',
    }),
  ),
};

export const UserInput = Type.Object(
  { userName: UserName, password: Password, ...input },
  { 'x-component': 'UserInput' },
);
export type UserInput = Static<typeof UserInput>;

export const UserUpdate = Type.Object(
  { userId: Long, userName: optional(UserName), password: optional(Password), ...input },
  {
    'x-component': 'UserUpdate',
    description:
      'Full replacement: omitted fields get their defaults. Only the name, the password and `mustChangePassword` stay when omitted.',
  },
);
export type UserUpdate = Static<typeof UserUpdate>;

/** A merge patch; `userId`, if sent, is that of the path. */
export const UserPatch = Type.Object(
  { userId: optional(Long), userName: optional(UserName), password: optional(Password), ...input },
  { 'x-component': 'UserPatch' },
);
export type UserPatch = Static<typeof UserPatch>;

export const User = Type.Object(
  {
    userId: LongOut,
    tenantId: Type.String(),
    userName: Type.String(),
    ...user.output,
    deptId: orNull(LongOut),
    deptIds: Type.Array(LongOut),
    roles: Type.Array(Role),
    mustChangePassword: Type.Boolean(),
    ...auditFields,
  },
  { 'x-component': 'User' },
);
export type User = Static<typeof User>;

export const UserFilter = Type.Object({
  ...TenantQuery.properties,
  userName: Type.Optional(Text(50, 'Part of the name, case-insensitive')),
  deptId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  status: Type.Optional(Status),
  q: Type.Optional(Text(50, 'Part of the user name or nickname (case-insensitive) or of the phone number')),
  ...paging,
});
export type UserFilter = Static<typeof UserFilter>;

export const DeptUserFilter = Type.Object({
  ...TenantQuery.properties,
  below: Type.Optional(Type.Boolean({ default: false, description: 'Include users of all descendant departments' })),
  countOnly: Type.Optional(Type.Boolean({ default: false, description: 'Return only `total`, without rows' })),
  ...paging,
});
export type DeptUserFilter = Static<typeof DeptUserFilter>;

export const UserPage = Page(User);
