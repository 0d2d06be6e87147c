import { readInTenant } from '../../db/tenant-scope.ts';
import { signKeyToken } from '../auth/access-tokens.ts';
import { loadKey } from '../auth/caller.ts';
import type { ApiKeyCredentials } from '../auth/credentials.ts';
import { type AuthDependencies, refresh } from '../auth/login.ts';
import type { Permission } from '../auth/permissions.ts';
import { addressKey } from '../http/address.ts';
import { withClientErrors } from './client.ts';
import { OAuthError } from './errors.ts';
import type { IssuedToken, TokenRequest } from './schema.ts';

/** Exchanges a grant for an access token (RFC 6749). */
export async function issueToken(
  deps: AuthDependencies,
  client: ApiKeyCredentials | undefined,
  sent: TokenRequest,
  address: string,
): Promise<IssuedToken> {
  switch (sent.grant_type) {
    case 'client_credentials':
      if (!client) throw new OAuthError('invalid_client', 'The client must authenticate itself with an API key.');
      return issueKeyToken(deps, client, sent.scope);
    case 'refresh_token':
      return refreshSession(deps, client, sent, address);
    default:
      throw new OAuthError('unsupported_grant_type', 'Supported: client_credentials and refresh_token.');
  }
}

/** Issues a token that acts for an API key. It has the requested permissions, or all permissions of the key. */
async function issueKeyToken(
  deps: AuthDependencies,
  client: ApiKeyCredentials,
  scope: string | undefined,
): Promise<IssuedToken> {
  const permissions = await readPermissions(deps, client);
  const granted = scope === undefined ? [...permissions] : selectPermissions(permissions, scope);
  // A token does not outlive its key.
  const secondsLeft = (client.known.expires - performance.now()) / 1000;
  const seconds = Math.max(1, Math.floor(Math.min(deps.config.accessTokenSeconds, secondsLeft)));
  return {
    access_token: await signKeyToken(deps, client, granted, seconds),
    token_type: 'Bearer',
    expires_in: seconds,
    scope: granted.join(' '),
  };
}

/**
 * Reads what the key may do at this moment. Throws if it may not be used. If it was refused before, the transaction uses the share
 * of the client's address, as in other operations.
 */
const readPermissions = ({ db }: AuthDependencies, client: ApiKeyCredentials): Promise<ReadonlySet<Permission>> =>
  withClientErrors(
    readInTenant(db, client.tenantId, async (tx) => (await loadKey(tx, client)).permissions, {
      anonymousAddress: client.refusalState.refused ? addressKey(client.address) : undefined,
    }),
  );

function selectPermissions(held: ReadonlySet<Permission>, scope: string): Permission[] {
  const requested = new Set(scope.split(' '));
  const selected = [...held].filter((permission) => requested.has(permission));
  if (selected.length < requested.size) {
    throw new OAuthError(
      'invalid_scope',
      'The scope must consist of permissions of the key, separated by single spaces.',
    );
  }
  return selected;
}

/**
 * The same as POST /auth/refresh. A session belongs to a person, not to a client, so no client has to authenticate itself; one
 * that does must be valid.
 */
async function refreshSession(
  deps: AuthDependencies,
  client: ApiKeyCredentials | undefined,
  { refresh_token, scope }: TokenRequest,
  address: string,
): Promise<IssuedToken> {
  if (refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  // Reject before the refresh token is used up.
  if (scope !== undefined)
    throw new OAuthError(
      'invalid_scope',
      'Omit scope: the tokens of a session always have all permissions of the user.',
    );
  if (client) await readPermissions(deps, client);
  return (await refresh(deps, refresh_token, { address })).tokens;
}
