import Type, { type Static } from 'typebox';
import { Dept, DeptInput } from '../departments/schema.ts';
import { asOf } from '../history/schema.ts';
import { Int, Long, LongOut, optional, orNull, Status } from '../http/fields.ts';

/** A Long in a query, where all is text. */
const LongText = (description: string) => Type.String({ ...Long, type: 'string', description });

const counts = Type.Optional(Type.Boolean({ default: false, description: 'Show `userCount` of each department' }));
const userCount = Type.Optional(
  Type.Integer({ minimum: 0, description: 'Users with it as `deptId` or in `deptIds`; shown with `counts`' }),
);

export const ChildrenFilter = Type.Object({
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, default: 50 })),
  cursor: Type.Optional(Type.String({ maxLength: 100, description: '`next` of the page before' })),
  counts,
  asOf,
});
export type ChildrenFilter = Static<typeof ChildrenFilter>;

export const Child = Type.Object({
  ...Dept.properties,
  hasChildren: Type.Boolean({ description: 'Whether there are departments below it' }),
  userCount,
});
export type Child = Static<typeof Child>;

export const ChildrenPage = Type.Object({
  rows: Type.Array(Child),
  next: orNull(Type.String({ description: 'Cursor of the next page; null at the end' })),
});
export type ChildrenPage = Static<typeof ChildrenPage>;

export const TreeFilter = Type.Object({
  rootId: Type.Optional(LongText('The branch of this department; left out or 0: the whole tenant')),
  depth: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 2147483646,
      description: 'Levels to show, 1 = only the roots; all when left out',
    }),
  ),
  counts,
  asOf,
});
export type TreeFilter = Static<typeof TreeFilter>;

export const TreeNode = Type.Object({
  deptId: LongOut,
  parentId: LongOut,
  deptName: Type.String(),
  orderNum: Int(),
  leader: orNull(Type.String()),
  status: Status,
  userCount,
  hasChildren: Type.Boolean({ description: 'Also true where `depth` cuts them off' }),
  children: Type.Array(Type.Object({}, { additionalProperties: true, description: 'A node like this one' })),
});
/** Beyond this many no single statement is sure to end in time. */
export const MAX_IN_BRANCH = 100_000;
export const MAX_LISTED = 10_000;

export const DeptOrder = Type.Object(
  { parentId: Long, deptIds: Type.Array(Long, { minItems: 1, maxItems: MAX_LISTED }) },
  {
    description:
      'The listed children come first, in this order; the others follow in the order they had. `parentId` 0: the top level.',
    examples: [{ parentId: 100, deptIds: [103, 101] }],
  },
);
export type DeptOrder = Static<typeof DeptOrder>;

const { parentId: _, ...fields } = DeptInput.properties;

export const NewDept = Type.Object({
  ref: Type.String({ minLength: 1, maxLength: 100, description: 'A name for it within this request' }),
  parentRef: optional(Type.String({ maxLength: 100, description: '`ref` of its parent, anywhere in the list' })),
  ...fields,
});
export type NewDept = Static<typeof NewDept>;

export const NewDepts = Type.Object(
  {
    parentId: optional(Long),
    departments: Type.Array(NewDept, { minItems: 1, maxItems: MAX_LISTED }),
  },
  {
    description: 'All of them or none. Entries without `parentRef` go below `parentId`, which is 0 when left out.',
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
  deptIds: Type.Array(LongOut, { description: 'Of the new departments, in the order sent' }),
});
export type NewDeptIds = Static<typeof NewDeptIds>;
