import { isUtf8 } from 'node:buffer';
import type { KeyReader } from '../auth/api-keys.ts';
import type { ApiKeyCredentials } from '../auth/credentials.ts';
import { ApiError } from '../http/errors.ts';
import { OAuthError } from './errors.ts';
import type { ClientParameters } from './schema.ts';

/** What a client sends to authenticate itself (RFC 6749 2.3.1): the id of an API key, and the key. */
interface ClientCredentials {
  clientId: string;
  secret: string;
}

/** Reads the credentials from the Authorization header or the body; undefined if neither has any. */
export function readCredentials(
  authorization: string | undefined,
  { client_id, client_secret }: ClientParameters,
): ClientCredentials | undefined {
  if (authorization === undefined) {
    if (client_secret === undefined) return undefined;
    if (client_id === undefined) throw new OAuthError('invalid_request', 'client_id is missing.');
    return { clientId: client_id, secret: client_secret };
  }
  const credentials = decodeBasic(authorization);
  if (client_secret !== undefined || (client_id !== undefined && client_id !== credentials.clientId)) {
    throw new OAuthError(
      'invalid_request',
      'Send the credentials of the client in the header or in the body, not in both.',
    );
  }
  return credentials;
}

/** Decodes HTTP Basic. Id and secret are form-encoded first, so that they may contain colons (RFC 6749 2.3.1). */
export function decodeBasic(authorization: string): ClientCredentials {
  const [, encoded] = /^Basic +([\w+/-]+={0,2}) *$/i.exec(authorization) ?? [];
  const bytes = Buffer.from(encoded ?? '', 'base64');
  const [, id, secret] = (isUtf8(bytes) && /^([^:]*):(.*)$/s.exec(bytes.toString('utf8'))) || [];
  try {
    if (id && secret) return { clientId: decodeFormValue(id), secret: decodeFormValue(secret) };
  } catch {
    // A percent sign that does not begin an escape sequence.
  }
  throw new OAuthError('invalid_client', 'The Authorization header is not valid HTTP Basic authentication.');
}

const decodeFormValue = (text: string) => decodeURIComponent(text.replaceAll('+', ' '));

/** Finds the API key of a client. Whether it may be used is read later. */
export async function findClient(
  keys: KeyReader,
  { clientId, secret }: ClientCredentials,
  address: string,
): Promise<ApiKeyCredentials> {
  const token = keys.cached(secret, address) ?? (await withClientErrors(keys.find(secret, address)));
  if (token.keyId !== clientId) throw unknownClient();
  return token;
}

export const unknownClient = () => new OAuthError('invalid_client', 'The client is unknown, or its secret is wrong.');

/** Turns the errors of an API key, or of its tenant, into those of a client. */
export async function withClientErrors<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!(error instanceof ApiError) || (error.status !== 401 && error.status !== 403)) throw error;
    if (error.code === 'INVALID_KEY') throw unknownClient();
    throw new OAuthError('invalid_client', error.text('en'));
  }
}
