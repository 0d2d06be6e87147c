import Type, { type Static } from 'typebox';
import { asOf } from '../history/schema.ts';
import { cursor, PageOrNext } from '../http/cursor.ts';
import { Email, Int, Long, LongOut, MAX_IDS, optional, orNull, paging, Status, stamps, Text } from '../http/fields.ts';

/** What a caller may say of a department. What he leaves out takes its default. */
const input = {
  parentId: optional(Long),
  deptName: optional(Text(100)),
  orderNum: optional(Int()),
  leader: optional(Text(50)),
  phone: optional(Text(32)),
  email: optional(Email),
  status: optional(Status),
  tenantId: optional(Type.String({ description: "The caller's own; another tenant's is refused" })),
};

export const DeptInput = Type.Object(input, {
  description: 'Ids, `ancestors`, `delFlag` and the stamps are the service’s own: ignored when sent.',
  examples: [
    { parentId: 0, deptName: '研发部', orderNum: 1, leader: '张三', phone: '13800000000', email: 'rd@example.com' },
  ],
});
export type DeptInput = Static<typeof DeptInput>;

export const DeptUpdate = Type.Object(
  { deptId: Long, ...input },
  {
    description:
      'Full replacement: what is left out takes its default. Only the place in the tree stays without `parentId`.',
  },
);
export type DeptUpdate = Static<typeof DeptUpdate>;

export const Dept = Type.Object({
  deptId: LongOut,
  parentId: LongOut,
  ancestors: Type.String({ description: 'From 0 down to the parent, separated by commas', examples: ['0,100,101'] }),
  deptName: Type.String(),
  orderNum: Int(),
  leader: orNull(Type.String()),
  phone: orNull(Type.String()),
  email: orNull(Type.String()),
  status: Status,
  delFlag: Type.Unsafe<'0' | '2'>({ type: 'string', enum: ['0', '2'], description: '0 = exists, 2 = deleted' }),
  tenantId: Type.String(),
  ...stamps,
});
export type Dept = Static<typeof Dept>;

/** The orders of a list, each with an index. `-` before one turns it around. */
export const SORTS = ['orderNum', 'deptName', 'createTime', 'updateTime'] as const;
export type Sort = (typeof SORTS)[number];

const DeptId = (description: string) => Type.String({ ...Long, type: 'string', description });

export const DeptFilter = Type.Object({
  deptName: Type.Optional(Text(100, 'Part of the name, letter case ignored')),
  leader: Type.Optional(Text(50, "Part of the leader's name, letter case ignored")),
  status: Type.Optional(Status),
  parentId: Type.Optional(DeptId('Direct children of; 0: top level')),
  underId: Type.Optional(DeptId('The whole branch below, without the department itself; 0: everything')),
  sort: Type.Optional(
    Type.Unsafe<Sort | `-${Sort}`>({
      type: 'string',
      enum: SORTS.flatMap((sort) => [sort, `-${sort}`]),
      default: 'orderNum',
      description: '`-`: the other way round. Equal ones by id, in the same direction.',
    }),
  ),
  withPath: Type.Optional(Type.Boolean({ default: false, description: 'Adds `pathNames` to each row' })),
  ...paging,
  cursor,
  asOf,
});
export type DeptFilter = Static<typeof DeptFilter>;

export const DeptRow = Type.Object({
  ...Dept.properties,
  pathNames: Type.Optional(
    Type.Array(Type.String(), { description: 'Names from the top down to the parent; only when asked for' }),
  ),
});
export type DeptRow = Static<typeof DeptRow>;

export const DeptPage = PageOrNext(DeptRow);

export const DeptIds = Type.Object(
  { ids: Type.Array(Long, { maxItems: MAX_IDS }) },
  { examples: [{ ids: [100, 101] }] },
);
export type DeptIds = Static<typeof DeptIds>;

export const DeptBatch = Type.Object({
  rows: Type.Array(Dept, { description: 'In the order asked; who asks for one twice gets it twice' }),
  missing: Type.Array(Type.Unsafe<number | string>({ type: ['integer', 'string'], description: 'Text above 2^53−1' }), {
    description: 'Missing, deleted, or another tenant’s, in the order asked',
  }),
});
export type DeptBatch = Static<typeof DeptBatch>;
