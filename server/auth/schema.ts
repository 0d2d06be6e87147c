import Type, { type Static } from 'typebox';
import { Page, Password } from '../http/fields.ts';
import { Tenant } from '../tenants/schema.ts';
import { User } from '../users/schema.ts';

export const Login = Type.Object({
  tenantId: Type.String({ maxLength: 18, examples: ['000000'], description: 'Code of the tenant' }),
  username: Type.String({ maxLength: 50, examples: ['admin'] }),
  password: Type.String({ maxLength: 128 }),
});
export type Login = Static<typeof Login>;

export const Refresh = Type.Object({ refresh_token: Type.String({ maxLength: 200 }) });

export const SessionQuery = Type.Object({
  session: Type.Optional(
    Type.Unsafe<'cookie'>({ type: 'string', enum: ['cookie'], description: 'The refresh token travels in a cookie' }),
  ),
});

export const LogoutQuery = Type.Object({
  everywhere: Type.Optional(Type.Boolean({ default: false, description: 'End all sessions of the user' })),
  session: Type.Optional(
    Type.Unsafe<'cookie'>({ type: 'string', enum: ['cookie'], description: 'The cookie suffices for this session' }),
  ),
});
export type LogoutQuery = Static<typeof LogoutQuery>;

export const Tokens = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  refresh_token: Type.Optional(
    Type.String({
      description: 'Good once; each use gives the next. With `session=cookie` it is in the cookie instead',
    }),
  ),
});
export type Tokens = Static<typeof Tokens>;

export const Me = Type.Object({
  user: User,
  roles: User.properties.roles,
  tenant: Type.Omit(Tenant, ['tenantParent']),
});
export type Me = Static<typeof Me>;

export const PasswordChange = Type.Object({
  oldPassword: Type.String({ maxLength: 128 }),
  newPassword: Password,
});
export type PasswordChange = Static<typeof PasswordChange>;

/** So many are listed. */
export const MAX_SESSIONS = 100;

export const Session = Type.Object({
  sessionId: Type.String(),
  address: Type.String({ description: 'Where the login came from; of IPv6 the network' }),
  userAgent: Type.String({ description: 'What the login said of the program it came from; may be empty' }),
  createTime: Type.String({ description: 'Of the login' }),
  lastUsedTime: Type.String({ description: 'Of the login, or of the last refresh' }),
  current: Type.Boolean({ description: 'Whether it is the one that asks' }),
});
export type Session = Static<typeof Session>;

export const SessionPage = Page(Session);

export const SessionPath = Type.Object({ id: Type.String({ description: '`sessionId`' }) });
