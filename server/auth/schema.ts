import Type, { type Static } from 'typebox';
import { EnteredPassword, Page } from '../http/fields.ts';

export const Login = Type.Object({
  tenantId: Type.String({ maxLength: 18, examples: ['000000'], description: 'Code of the tenant' }),
  username: Type.String({ maxLength: 50, examples: ['admin'] }),
  password: EnteredPassword,
});
export type Login = Static<typeof Login>;

export const Refresh = Type.Object({ refresh_token: Type.String({ maxLength: 200 }) });

export const SessionQuery = Type.Object({
  session: Type.Optional(
    Type.Unsafe<'cookie'>({ type: 'string', enum: ['cookie'], description: 'Keep the refresh token in a cookie' }),
  ),
});

export const LogoutQuery = Type.Object({
  everywhere: Type.Optional(Type.Boolean({ default: false, description: 'End all sessions of the caller' })),
  session: Type.Optional(
    Type.Unsafe<'cookie'>({
      type: 'string',
      enum: ['cookie'],
      description: 'Accept the session cookie if the access token is rejected',
    }),
  ),
});
export type LogoutQuery = Static<typeof LogoutQuery>;

export const Tokens = Type.Object(
  {
    access_token: Type.String(),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds' }),
    refresh_token: Type.Optional(
      Type.String({
        description: 'Works once. With `session=cookie` it is in the cookie instead',
      }),
    ),
    mustChangePassword: Type.Optional(
      Type.Boolean({
        description: '`true`: until the user has changed their password, only that and logging out are allowed',
      }),
    ),
  },
  { 'x-component': 'Tokens' },
);
export type Tokens = Static<typeof Tokens>;

/** The maximum length of the list of sessions. */
export const MAX_SESSIONS = 100;

export const Session = Type.Object(
  {
    sessionId: Type.String(),
    address: Type.String({ description: 'Address of the login; for IPv6 its /64 network' }),
    userAgent: Type.String({ description: '`User-Agent` of the login; may be empty' }),
    createTime: Type.String({ description: 'Time of the login' }),
    lastUsedTime: Type.String({ description: 'Time of the last refresh, or of the login' }),
    current: Type.Boolean({ description: 'Whether this is the session of the request' }),
  },
  { 'x-component': 'Session' },
);
export type Session = Static<typeof Session>;

export const SessionPage = Page(Session);

export const SessionPath = Type.Object({ id: Type.String({ description: '`sessionId`' }) });
