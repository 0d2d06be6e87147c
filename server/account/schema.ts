import Type, { type Static } from 'typebox';
import { EnteredPassword, Password } from '../http/fields.ts';
import { OwnTenant } from '../tenants/schema.ts';
import { User } from '../users/schema.ts';

export const Me = Type.Object(
  {
    user: User,
    roles: User.properties.roles,
    tenant: OwnTenant,
  },
  { 'x-component': 'Me' },
);
export type Me = Static<typeof Me>;

export const PasswordChange = Type.Object({
  oldPassword: EnteredPassword,
  newPassword: Password,
});
export type PasswordChange = Static<typeof PasswordChange>;
