import Type, { type Static } from 'typebox';

/**
 * The maximum number of bytes of a form. The schemas allow tokens of this length, so that one that is too long is treated like any
 * other invalid token.
 */
export const FORM_BYTES = 8_192;

export const ClientParameters = Type.Object({
  client_id: Type.Optional(
    Type.String({ maxLength: 100, description: '`keyId` of an API key, unless HTTP Basic is used' }),
  ),
  client_secret: Type.Optional(Type.String({ maxLength: 200, format: 'password', description: 'The API key' })),
});
export type ClientParameters = Static<typeof ClientParameters>;

export const TokenRequest = Type.Object({
  grant_type: Type.String({ maxLength: 200, description: '`client_credentials` or `refresh_token`' }),
  ...ClientParameters.properties,
  scope: Type.Optional(
    Type.String({ maxLength: 1_000, description: 'Permissions, separated by spaces; default: all of the key' }),
  ),
  refresh_token: Type.Optional(Type.String({ maxLength: FORM_BYTES, format: 'password' })),
});
export type TokenRequest = Static<typeof TokenRequest>;

export const IssuedToken = Type.Object({
  access_token: Type.String(),
  token_type: Type.Literal('Bearer'),
  expires_in: Type.Integer({ description: 'Seconds' }),
  refresh_token: Type.Optional(Type.String()),
  scope: Type.Optional(Type.String()),
  mustChangePassword: Type.Optional(Type.Boolean()),
});
export type IssuedToken = Static<typeof IssuedToken>;

export const IntrospectionRequest = Type.Object({
  token: Type.String({ maxLength: FORM_BYTES, description: 'An access token, a refresh token or an API key' }),
  token_type_hint: Type.Optional(Type.String()),
});

const text = Type.Optional(Type.String());
const time = Type.Optional(Type.Integer());

export const Introspection = Type.Object({
  active: Type.Boolean(),
  sub: Type.Optional(Type.String({ description: '`userId`, or `keyId`' })),
  tenant_id: text,
  username: text,
  client_id: Type.Optional(Type.String({ description: '`keyId`; absent for users' })),
  scope: Type.Optional(Type.String({ description: 'The current permissions' })),
  token_type: text,
  exp: time,
  iat: time,
  iss: text,
  aud: text,
  jti: text,
});
export type Introspection = Static<typeof Introspection>;

/** The OpenAPI document leaves out what the standard describes. */
const describedBy = (standard: string) => ({ 'x-openapi': { type: 'object', description: standard } });

export const KeySet = Type.Object(
  {
    keys: Type.Array(
      Type.Object({
        kty: Type.Literal('OKP'),
        crv: Type.Literal('Ed25519'),
        x: Type.String(),
        kid: Type.String(),
        use: Type.Literal('sig'),
        alg: Type.Literal('EdDSA'),
      }),
    ),
  },
  describedBy('RFC 7517'),
);
export type KeySet = Static<typeof KeySet>;

const texts = Type.Array(Type.String());

export const Metadata = Type.Object(
  {
    issuer: Type.String(),
    token_endpoint: Type.String(),
    introspection_endpoint: Type.String(),
    jwks_uri: Type.String(),
    scopes_supported: texts,
    response_types_supported: texts,
    grant_types_supported: texts,
    token_endpoint_auth_methods_supported: texts,
    introspection_endpoint_auth_methods_supported: texts,
    service_documentation: Type.String(),
  },
  describedBy('RFC 8414'),
);
export type Metadata = Static<typeof Metadata>;
