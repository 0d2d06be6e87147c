import { createPrivateKey, type KeyObject } from 'node:crypto';
import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, SignJWT } from 'jose';
import type { Service } from './service.ts';

export interface TokenChanges {
  /** Claims and header parameters to replace. Undefined removes one. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Replaces the service's signing key. */
  key?: KeyObject | Uint8Array;
}

export const now = () => Math.floor(Date.now() / 1000);

/** Changes a valid access token and signs it as the service does. */
export async function signToken(
  service: Service,
  token: string,
  { claims, header, key }: TokenChanges,
): Promise<string> {
  const original = decodeProtectedHeader(token);
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ ...original, ...header } as JWTHeaderParameters)
    .sign(key ?? (await readPrivateKey(service, original.kid as string)));
}

export async function readPrivateKey({ superuser }: Service, keyId: string): Promise<KeyObject> {
  const [row] = await superuser<[{ privateKey: Buffer }]>`
    select private_key as "privateKey" from banyan.signing_keys where key_id = ${keyId}`;
  return createPrivateKey({ key: row.privateKey, type: 'pkcs8', format: 'der' });
}

/** Changes the claims of a token and keeps its signature. */
export function tamper(token: string, claims: Record<string, unknown>): string {
  const [head, , signature] = token.split('.');
  return [head, encode({ ...decodeJwt(token), ...claims }), signature].join('.');
}

export const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
