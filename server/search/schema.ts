import Type, { type Static } from 'typebox';
import { orNull, Status, TenantQuery, Text } from '../http/fields.ts';

export const SearchFilter = Type.Object({
  ...TenantQuery.properties,
  q: Text(100),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, default: 10 })),
});
export type SearchFilter = Static<typeof SearchFilter>;

const Kind = Type.Unsafe<'user' | 'department' | 'tenant'>({ type: 'string', enum: ['user', 'department', 'tenant'] });
const Matched = Type.Unsafe<'id' | 'name' | 'phone'>({ type: 'string', enum: ['id', 'name', 'phone'] });

export const SearchHit = Type.Object(
  {
    kind: Kind,
    id: Type.String(),
    name: Type.String(),
    path: Type.Array(Type.String()),
    status: Status,
    matched: Matched,
    code: orNull(Type.String()),
    phone: orNull(Type.String()),
    position: orNull(Type.String()),
  },
  { 'x-component': 'SearchHit' },
);
export type SearchHit = Static<typeof SearchHit>;
