import { type AuthDependencies, refresh } from '../auth/login.ts';
import type { ClientCredentials } from './client.ts';
import { OAuthError } from './errors.ts';
import type { IssuedToken, TokenRequest } from './schema.ts';

/** Exchanges a grant for an access token (RFC 6749). */
export async function issueToken(
  deps: AuthDependencies,
  client: ClientCredentials | undefined,
  sent: TokenRequest,
): Promise<IssuedToken> {
  switch (sent.grant_type) {
    case 'client_credentials':
      throw new OAuthError('invalid_client', 'The client is unknown, or its secret is wrong.');
    case 'refresh_token':
      return refreshSession(deps, client, sent);
    default:
      throw new OAuthError('unsupported_grant_type', 'Supported: client_credentials and refresh_token.');
  }
}

/** The same as POST /auth/refresh. A session belongs to a person, not to a client, so no client has to authenticate itself. */
async function refreshSession(
  deps: AuthDependencies,
  _client: ClientCredentials | undefined,
  { refresh_token, scope }: TokenRequest,
): Promise<IssuedToken> {
  if (refresh_token === undefined) throw new OAuthError('invalid_request', 'refresh_token is missing.');
  // Refuse before the refresh token is used up.
  if (scope !== undefined) throw new OAuthError('invalid_scope', 'The tokens of a session have no scope to choose.');
  return (await refresh(deps, refresh_token)).tokens;
}
