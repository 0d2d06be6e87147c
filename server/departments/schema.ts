import Type, { type Static } from 'typebox';
import { extending } from '../http/components.ts';
import {
  auditFields,
  Long,
  LongOut,
  MAX_IDS,
  optional,
  orNull,
  paging,
  Status,
  TenantQuery,
  Text,
} from '../http/fields.ts';
import { cursor, PageOrCursorPage, sortBy } from '../http/pagination.ts';
import { asOf } from '../ledger/schema.ts';
import { externalIdFilters } from '../records/external-id.ts';
import { format } from '../spreadsheets/schema.ts';
import { department } from './record.ts';

/** What a caller sends about a department, apart from its position in the tree. */
export const DeptFields = Type.Object(
  {
    ...department.input,
    tenantId: optional(Type.String({ description: 'The tenant in which the request acts; any other is an error' })),
  },
  { 'x-component': 'DepartmentFields' },
);

const position = Type.Object({ parentId: optional(Long) });
const input = { ...position.properties, ...DeptFields.properties };

export const DeptInput = Type.Object(input, {
  ...extending(DeptFields, 'DepartmentInput', position),
  description:
    'These fields are ignored: `ancestors`, `delFlag`, `createBy`, `createTime`, `updateBy`, ' + '`updateTime`.',
  examples: [
    { parentId: 0, deptName: '研发部', orderNum: 1, leader: '张三', phone: '13800000000', email: 'rd@example.com' },
  ],
});
export type DeptInput = Static<typeof DeptInput>;

export const DeptUpdate = Type.Object(
  { deptId: Long, ...input },
  {
    ...extending('DepartmentInput', 'DepartmentUpdate', Type.Object({ deptId: Long })),
    description:
      'Full replacement: omitted fields get their defaults. Only `parentId`, `leaderId`, `source` and `externalId` stay.',
  },
);
export type DeptUpdate = Static<typeof DeptUpdate>;

/** A merge patch. Validates like the body of a creation; `deptId`, if sent, is that of the path. */
export const DeptPatch = Type.Object(
  { deptId: optional(Long), ...input },
  { 'x-openapi': { 'x-ref': 'DepartmentInput' } },
);
export type DeptPatch = Static<typeof DeptPatch>;

export const Dept = Type.Object(
  {
    deptId: LongOut,
    parentId: LongOut,
    ancestors: Type.String({
      description: 'Ids from 0 (the top) down to the parent, separated by commas',
      examples: ['0,100,101'],
    }),
    ...department.output,
    leaderId: orNull(LongOut),
    delFlag: Type.Unsafe<'0' | '2'>({ type: 'string', enum: ['0', '2'], description: '0 = exists, 2 = deleted' }),
    tenantId: Type.String(),
    ...auditFields,
  },
  { 'x-component': 'Department' },
);
export type Dept = Static<typeof Dept>;

/** The fields that a list can be sorted by. Each has an index. */
const SORTS = ['orderNum', 'deptName', 'createTime', 'updateTime'] as const;
export type Sort = (typeof SORTS)[number];

/** An id in a query string, where every value is text. */
export const QueryId = (description: string) =>
  Type.String({ ...Long, type: 'string', 'x-component': 'QueryId', description });

export const DeptFilter = Type.Object({
  ...TenantQuery.properties,
  deptName: Type.Optional(Text(100, 'Part of the name, case-insensitive')),
  exact: Type.Optional(Type.Boolean({ default: false, description: '`deptName` is the whole name' })),
  leader: Type.Optional(Text(50, "Part of the leader's name, case-insensitive")),
  status: Type.Optional(Status),
  ...externalIdFilters,
  parentId: Type.Optional(QueryId('Only direct children of this department; 0: the top level')),
  underId: Type.Optional(QueryId('Only descendants of this department, at any level; 0: all departments')),
  sort: sortBy(SORTS),
  withPath: Type.Optional(Type.Boolean({ default: false, description: 'Adds `pathNames` to each row' })),
  ...paging,
  cursor,
  asOf,
});
export type DeptFilter = Static<typeof DeptFilter>;

/** The filters of a list, without paging, sorting, paths and `asOf`. */
export const DeptExportFilter = Type.Object({
  ...Type.Omit(DeptFilter, ['sort', 'withPath', 'pageNum', 'pageSize', 'cursor', 'asOf']).properties,
  format,
});
export type DeptExportFilter = Static<typeof DeptExportFilter>;

const withPath = Type.Object({
  pathNames: Type.Optional(
    Type.Array(Type.String(), { description: 'Names from the top down to the parent; only with `withPath`' }),
  ),
});

export const DeptRow = Type.Object(
  { ...Dept.properties, ...withPath.properties },
  extending('Department', 'DepartmentRow', withPath),
);
export type DeptRow = Static<typeof DeptRow>;

export const DeptPage = PageOrCursorPage(DeptRow);

export const DeptIds = Type.Object({ ids: Type.Array(Long, { maxItems: MAX_IDS }) });
export type DeptIds = Static<typeof DeptIds>;

export const DeptBatch = Type.Object({
  rows: Type.Array(Dept, { description: 'In the order of `ids`; an id that is sent twice is returned twice' }),
  missing: Type.Array(
    Type.Unsafe<number | string>({ type: ['integer', 'string'], description: 'A string if it is greater than 2^53−1' }),
    {
      description: 'Ids that do not exist, are deleted or belong to another tenant, in the order of `ids`',
    },
  ),
});
export type DeptBatch = Static<typeof DeptBatch>;

/** What deleting departments does with their users. */
export const MembersQuery = {
  users: Type.Optional(
    Type.Unsafe<'move' | 'delete'>({
      type: 'string',
      enum: ['move', 'delete'],
      description:
        '`move`: moves users to `toDeptId`. `delete`: deletes users whose main department is deleted; others only leave it. ' +
        'Omitted: departments with users are not deleted',
    }),
  ),
  toDeptId: Type.Optional(QueryId('With users=move: the department to which the users are moved')),
};
export type MembersQuery = { users?: 'move' | 'delete'; toDeptId?: Static<ReturnType<typeof QueryId>> };
