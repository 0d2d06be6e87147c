import Type, { type Static } from 'typebox';
import { extending } from '../../http/components.ts';
import { Int, Long, LongOut, optional, orNull, Status, TenantQuery } from '../../http/fields.ts';
import { asOf } from '../../ledger/schema.ts';
import { Dept, DeptFields, QueryId } from '../schema.ts';

const counts = Type.Optional(Type.Boolean({ default: false, description: 'Adds `userCount` to each department' }));
const userCount = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Users who have it as `deptId` or in `deptIds`; only with `counts`' }),
);

/**
 * With `branchCounts`, users are counted only if the subtrees of a page have at most this many departments in all: more would
 * take too long.
 */
export const MAX_COUNTED_DEPARTMENTS = 50_000;

export const ChildrenFilter = Type.Object({
  ...TenantQuery.properties,
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the previous page' })),
  counts,
  branchCounts: Type.Optional(Type.Boolean({ default: false, description: 'Adds `branchUserCount`' })),
  asOf,
});
export type ChildrenFilter = Static<typeof ChildrenFilter>;

const withChildren = Type.Object({
  hasChildren: Type.Boolean({ description: 'Whether it has children' }),
  userCount,
  branchUserCount: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: 'As `userCount`, for the subtree; only with `branchCounts`; omitted above 50,000 departments',
    }),
  ),
});

export const Child = Type.Object(
  { ...Dept.properties, ...withChildren.properties },
  extending('Department', 'DepartmentChild', withChildren),
);
export type Child = Static<typeof Child>;

export const ChildrenPage = Type.Object({
  rows: Type.Array(Child),
  next: orNull(Type.String({ description: 'Cursor of the next page; null on the last page' })),
});
export type ChildrenPage = Static<typeof ChildrenPage>;

export const TreeFilter = Type.Object({
  ...TenantQuery.properties,
  rootId: Type.Optional(QueryId('Only the subtree of this department; omitted or 0: all departments')),
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2147483646,
      description: 'Number of levels, 1 = only the roots; omitted: all',
    }),
  ),
  counts,
  asOf,
});
export type TreeFilter = Static<typeof TreeFilter>;

/** Which nodes of a tree to read: the subtree of `rootId` (null: the whole tree), down to `depth` levels (null: all). */
export interface Subtree {
  rootId: string | null;
  depth: number | null;
}

export const TreeNode = Type.Object(
  {
    deptId: LongOut,
    parentId: LongOut,
    deptName: Type.String(),
    orderNum: Int(),
    leader: orNull(Type.String()),
    status: Status,
    userCount,
    hasChildren: Type.Boolean({ description: 'Also true when `depth` leaves the children out' }),
    children: Type.Array(Type.Object({}, { additionalProperties: true, 'x-ref': 'DepartmentNode' })),
  },
  { 'x-component': 'DepartmentNode' },
);

/** The maximum size of a subtree to delete or of siblings to reorder: more would exceed the deadline. */
export const MAX_SUBTREE_SIZE = 100_000;
/** The maximum number of departments in the body of a request. */
const MAX_LISTED = 10_000;

export const DeptOrder = Type.Object(
  { parentId: Long, deptIds: Type.Array(Long, { minItems: 1, maxItems: MAX_LISTED }) },
  {
    description:
      'The listed children come first, in this order, then the others in their previous order. `parentId` 0: the top level.',
    examples: [{ parentId: 100, deptIds: [103, 101] }],
  },
);
export type DeptOrder = Static<typeof DeptOrder>;

const refs = Type.Object({
  ref: Type.String({ minLength: 1, maxLength: 100, description: 'Identifies the department within this request' }),
  parentRef: optional(
    Type.String({ maxLength: 100, description: '`ref` of the parent, which may come later in the list' }),
  ),
});

export const NewDept = Type.Object(
  { ...refs.properties, ...DeptFields.properties },
  extending(DeptFields, 'NewDepartment', refs),
);
export type NewDept = Static<typeof NewDept>;

export const NewDepts = Type.Object(
  {
    parentId: optional(Long),
    departments: Type.Array(NewDept, { minItems: 1, maxItems: MAX_LISTED }),
  },
  {
    description: 'Entries without `parentRef` go below `parentId`; omitted or 0: the top level.',
    examples: [
      {
        parentId: 0,
        departments: [
          { ref: 'rd', deptName: '研发部' },
          { ref: 'web', parentRef: 'rd', deptName: '前端组' },
        ],
      },
    ],
  },
);
export type NewDepts = Static<typeof NewDepts>;

export const NewDeptIds = Type.Object({
  deptIds: Type.Array(LongOut, { description: 'Ids of the new departments, in the order of the request' }),
});
export type NewDeptIds = Static<typeof NewDeptIds>;

/** The maximum number of ids in the details of an error. */
export const MAX_ERROR_IDS = 100;
