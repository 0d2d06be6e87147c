import Type, { type Static } from 'typebox';
import { DeptBatch } from '../departments/schema.ts';
import { NewDepts } from '../departments/tree/schema.ts';
import { extending } from '../http/components.ts';
import {
  auditFields,
  Long,
  LongOut,
  MAX_IDS,
  optional,
  orNull,
  Password,
  paging,
  Status,
  TenantCode,
  TenantQuery,
  Text,
} from '../http/fields.ts';
import { cursor, PageOrCursorPage, sortBy } from '../http/pagination.ts';
import { externalIdFilters } from '../records/external-id.ts';
import { format } from '../spreadsheets/schema.ts';
import { user } from './record.ts';

export const Role = Type.Unsafe<'admin' | 'member'>({ type: 'string', enum: ['admin', 'member'] });

export const UserName = Type.String({
  minLength: 1,
  maxLength: 50,
  description: 'Unique in its tenant; RFC 8265 (UsernameCaseMapped)',
});

const fields = Type.Object(
  {
    tenantId: optional(TenantCode),
    ...user.input,
    deptId: optional(Long),
    deptIds: optional(Type.Array(Long, { maxItems: MAX_IDS, description: 'Additional departments' })),
    roles: optional(Type.Array(Role, { minItems: 1, maxItems: 2, default: ['member'] })),
    mustChangePassword: optional(
      Type.Boolean({
        description:
          'Must change the password before anything else. Omitted: false with a new password, otherwise ' + 'unchanged',
      }),
    ),
  },
  { 'x-component': 'UserFields' },
);

const credentials = Type.Object({ userName: UserName, password: Password });
export const UserInput = Type.Object(
  { ...credentials.properties, ...fields.properties },
  extending(fields, 'UserInput', credentials),
);
export type UserInput = Static<typeof UserInput>;

const changedCredentials = Type.Object({
  userId: Long,
  userName: optional(UserName),
  password: optional(Password),
});
export const UserUpdate = Type.Object(
  { ...changedCredentials.properties, ...fields.properties },
  {
    ...extending(fields, 'UserUpdate', changedCredentials),
    description:
      'Full replacement: omitted fields get their defaults. Only the name, the password, `position`, `source`, ' +
      '`externalId` and, without a new password, `mustChangePassword` stay as they are.',
  },
);
export type UserUpdate = Static<typeof UserUpdate>;

const MAX_NEW = 10_000;
/** Additional departments of a user in a bulk creation: fewer than elsewhere, so that all of them fit into one transaction. */
const MAX_NEW_DEPTS = 20;
const Ref = Type.String({ minLength: 1, maxLength: 100 });

const newFields = Type.Object({
  ref: Type.String({ ...Ref, description: 'Identifies the user within this request, in its errors too' }),
  userName: UserName,
  password: optional(Password),
  passwordHash: optional(
    Type.String({
      maxLength: 255,
      format: 'password',
      description: 'Instead of `password`, for administrators of 000000: argon2id (PHC format) or bcrypt',
    }),
  ),
  deptRef: optional(Type.String({ ...Ref, description: 'Instead of `deptId`: the `ref` of one of `departments`' })),
  deptIds: optional(Type.Array(Long, { maxItems: MAX_NEW_DEPTS })),
  deptRefs: optional(Type.Array(Ref, { maxItems: MAX_NEW_DEPTS, description: 'Additional departments, by `ref`' })),
});
export const NewUser = Type.Object(
  { ...newFields.properties, ...fields.properties, deptIds: newFields.properties.deptIds },
  extending(fields, 'NewUser', newFields),
);
export type NewUser = Static<typeof NewUser>;

/** Rows are validated one by one, to find all errors. This schema only tells server/idempotency which fields are secrets. */
const secret = { format: 'password' };
const UnvalidatedUser = Type.Unsafe<NewUser>({
  properties: { password: secret, passwordHash: secret },
  'x-openapi': NewUser,
});

export const NewUsers = Type.Object(
  {
    parentId: NewDepts.properties.parentId,
    departments: optional(Type.Array(NewDepts.properties.departments.items, { maxItems: MAX_NEW })),
    users: Type.Array(UnvalidatedUser, { minItems: 1, maxItems: MAX_NEW }),
  },
  {
    description: '`departments` are created first, as by `addDepartments`.',
    examples: [
      {
        departments: [{ ref: 'rd', deptName: '研发部' }],
        users: [{ ref: 'a', userName: 'zhangsan', password: 'four blue horses', deptRef: 'rd' }],
      },
    ],
  },
);
export type NewUsers = Static<typeof NewUsers>;

const Ids = (description: string) => Type.Array(LongOut, { description });
export const NewUserIds = Type.Object({
  userIds: Ids('Ids of the new users, in the order of the request'),
  deptIds: Ids('Ids of the new departments, in the order of the request'),
});
export type NewUserIds = Static<typeof NewUserIds>;

const { userId, ...patchable } = changedCredentials.properties;
/** A merge patch; `userId`, if sent, is that of the path. */
export const UserPatch = Type.Object(
  { userId: optional(userId), ...patchable, ...fields.properties },
  extending(fields, 'UserPatch', Type.Object(patchable)),
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

export const Leader = Type.Object(
  {
    deptId: LongOut,
    deptName: Type.String(),
    userId: LongOut,
    userName: Type.String(),
    nickName: orNull(Type.String()),
    status: Status,
  },
  { description: 'A user and the department that they lead' },
);
export type Leader = Static<typeof Leader>;

const below = Type.Optional(Type.Boolean({ default: false, description: 'Also users of all descendant departments' }));

/** The fields that a list can be sorted by. Each has an index. */
const SORTS = ['userId', 'userName', 'nickName', 'createTime'] as const;
export type UserSort = (typeof SORTS)[number];

export const UserFilter = Type.Object({
  ...TenantQuery.properties,
  userName: Type.Optional(Text(50, 'Part of the name, case-insensitive')),
  deptId: Type.Optional(Type.String({ ...Long, type: 'string' })),
  below,
  status: Type.Optional(Status),
  ...externalIdFilters,
  q: Type.Optional(Text(50, 'Part of the user name, nickname (case-insensitive) or phone number')),
  sort: sortBy(SORTS),
  ...paging,
  cursor,
});
export type UserFilter = Static<typeof UserFilter>;

export const UserExportFilter = Type.Object({
  ...Type.Omit(UserFilter, ['sort', 'pageNum', 'pageSize', 'cursor']).properties,
  format,
});
export type UserExportFilter = Static<typeof UserExportFilter>;

export const DeptUserFilter = Type.Object({
  ...TenantQuery.properties,
  below,
  countOnly: Type.Optional(Type.Boolean({ default: false, description: 'Only `total`, no rows' })),
  ...paging,
  cursor,
});
export type DeptUserFilter = Static<typeof DeptUserFilter>;

export const UserPage = PageOrCursorPage(User);

export const UserIds = Type.Object({ ids: Type.Array(Long, { maxItems: MAX_IDS }) });

export const UserBatch = Type.Object({ rows: Type.Array(User), missing: DeptBatch.properties.missing });
export type UserBatch = Static<typeof UserBatch>;
