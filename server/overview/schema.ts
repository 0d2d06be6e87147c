import Type, { type Static } from 'typebox';
import { Int, orNull, Status } from '../http/fields.ts';
import { QUOTAS } from '../tenants/schema.ts';

const Count = Type.Integer({ minimum: 0 });

const tenantFields = { id: Type.String(), tenantId: Type.String(), tenantName: orNull(Type.String()) };

const Quota = Type.Object(
  {
    total: Int(),
    used: orNull(Type.Integer({ description: 'null: nothing was counted yet' })),
  },
  { 'x-component': 'QuotaUsage' },
);

export const Overview = Type.Object(
  {
    departments: Count,
    users: Count,
    tenantsBelow: Type.Integer({ minimum: 0, description: 'Descendants at any depth; 0 for members' }),
    accounts: Type.Object({ used: Count, limit: Int({ minimum: -1 }) }, { description: 'Limit -1: unlimited' }),
    quotas: Type.Object(
      Object.fromEntries(QUOTAS.map((key) => [key, Quota])) as Record<(typeof QUOTAS)[number], typeof Quota>,
    ),
    endingSoon: Type.Array(
      Type.Object({
        ...tenantFields,
        startTime: orNull(Type.String()),
        endTime: Type.String(),
        daysLeft: Type.Integer({ description: '0: today is the last day; negative: it has already ended' }),
        status: Status,
      }),
    ),
    full: Type.Array(Type.Object({ ...tenantFields, used: Count, limit: Count })),
  },
  { 'x-component': 'Overview' },
);
export type Overview = Static<typeof Overview>;
