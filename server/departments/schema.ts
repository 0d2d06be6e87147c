import Type, { type Static } from 'typebox';
import { Email, Int, Long, LongOut, optional, orNull, Page, paging, Status, stamps, Text } from '../http/fields.ts';

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

export const DeptFilter = Type.Object({
  deptName: Type.Optional(Text(100, 'Part of the name, letter case ignored')),
  status: Type.Optional(Status),
  parentId: Type.Optional(Type.String({ ...Long, type: 'string', description: 'Direct children of; 0: top level' })),
  ...paging,
});
export type DeptFilter = Static<typeof DeptFilter>;

export const DeptPage = Page(Dept);
