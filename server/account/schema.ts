import Type, { type Static } from 'typebox';
import { Password } from '../http/fields.ts';
import { Tenant } from '../tenants/schema.ts';
import { User } from '../users/schema.ts';

export const Me = Type.Object(
  {
    user: User,
    roles: User.properties.roles,
    tenant: Type.Omit(Tenant, ['tenantParent'], { 'x-component': 'OwnTenant' }),
  },
  { 'x-component': 'Me' },
);
export type Me = Static<typeof Me>;

export const PasswordChange = Type.Object({
  oldPassword: Type.String({ maxLength: 128, format: 'password' }),
  newPassword: Password,
});
export type PasswordChange = Static<typeof PasswordChange>;
