import Type, { type Static } from 'typebox';
import { QueryId } from '../departments/schema.ts';
import { LongOut, orNull, Status, TenantQuery } from '../http/fields.ts';
import { Quotas } from '../quotas/schema.ts';
import { Tenant } from '../tenants/schema.ts';
import { User } from '../users/schema.ts';

export const EntitlementFilter = Type.Object({
  ...TenantQuery.properties,
  userId: Type.Optional(QueryId("A user of that tenant; default: the caller, in the caller's own tenant")),
});
export type EntitlementFilter = Static<typeof EntitlementFilter>;

/** Why a tenant is not in service. `above`: one of its ancestors is not. */
const OUT_OF_SERVICE = ['disabled', 'notStarted', 'ended', 'above'] as const;
export type OutOfService = (typeof OUT_OF_SERVICE)[number];

const text = orNull(Type.String());

export const Entitlements = Type.Object(
  {
    tenantId: Type.String(),
    tenantName: text,
    inService: Type.Boolean(),
    outOfService: Type.Unsafe<OutOfService | null>({
      type: ['string', 'null'],
      enum: [...OUT_OF_SERVICE, null],
      description: 'Why it is not in service; `above`: an ancestor is not',
    }),
    startTime: text,
    endTime: orNull(Type.String({ description: 'The last day' })),
    menuIds: Type.Array(Type.Unsafe<number | string>({ type: ['integer', 'string'] }), {
      description: "Menus of the tenant's package; an id greater than 2^53−1 is a string",
    }),
    ruleBo: Tenant.properties.ruleBo,
    quotas: Quotas,
    user: Type.Unsafe<{ userId: number; userName: string; status: '0' | '1' } | null>({
      ...Type.Object({ userId: LongOut, userName: Type.String(), status: Status }),
      type: ['object', 'null'],
      description: 'null: an API key, or another tenant without `userId`',
    }),
    roles: User.properties.roles,
    departments: Type.Array(
      Type.Object({
        deptId: LongOut,
        deptName: Type.String(),
        main: Type.Boolean(),
        status: Status,
        path: Type.Array(Type.Object({ deptId: LongOut, deptName: Type.String() }), {
          description: 'From the top down to the department itself',
        }),
      }),
      { description: 'Of the user, the main one first' },
    ),
  },
  { 'x-component': 'Entitlements' },
);
export type Entitlements = Static<typeof Entitlements>;
