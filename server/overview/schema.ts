import Type, { type Static } from 'typebox';
import { Int, orNull, Status } from '../http/fields.ts';
import { QUOTAS } from '../tenants/schema.ts';

const Count = Type.Integer({ minimum: 0 });

const named = { id: Type.String(), tenantId: Type.String(), tenantName: orNull(Type.String()) };

const Quota = Type.Object({
  total: Int(),
  used: orNull(Type.Integer({ description: 'null where the service keeps no count' })),
});

export const Overview = Type.Object({
  departments: Count,
  users: Count,
  tenantsBelow: Type.Integer({ minimum: 0, description: 'At any depth; 0 for members' }),
  accounts: Type.Object({ used: Count, limit: Int({ minimum: -1 }) }, { description: 'Limit -1: there is none' }),
  quotas: Type.Object(
    Object.fromEntries(QUOTAS.map((key) => [key, Quota])) as Record<(typeof QUOTAS)[number], typeof Quota>,
  ),
  endingSoon: Type.Array(
    Type.Object({
      ...named,
      endTime: Type.String(),
      daysLeft: Type.Integer({ description: '0: today is the last day; negative: it has ended' }),
      status: Status,
    }),
  ),
  full: Type.Array(Type.Object({ ...named, used: Count, limit: Count })),
});
export type Overview = Static<typeof Overview>;
