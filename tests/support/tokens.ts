import { decodeJwt, decodeProtectedHeader, type JWTHeaderParameters, SignJWT } from 'jose';
import type { Service } from './service.ts';

export interface Changes {
  /** Claims and header parameters to say something else; undefined leaves one out. */
  claims?: Record<string, unknown>;
  header?: Record<string, unknown>;
  /** Instead of the key that the service signs with. */
  secret?: Uint8Array;
}

export const now = () => Math.floor(Date.now() / 1000);

/** A good access token with something changed about it, signed as the service signs. */
export async function craft(service: Service, token: string, { claims, header, secret }: Changes): Promise<string> {
  const original = decodeProtectedHeader(token);
  const [key] = await service.superuser<[{ secret: Buffer }]>`
    select secret from banyan.signing_keys where key_id = ${original.kid as string}`;
  return new SignJWT({ ...decodeJwt(token), ...claims })
    .setProtectedHeader({ ...original, ...header } as JWTHeaderParameters)
    .sign(secret ?? key.secret);
}

/** Another payload under the signature of a good token. */
export function tamper(token: string, claims: Record<string, unknown>): string {
  const [head, , signature] = token.split('.');
  return [head, encode({ ...decodeJwt(token), ...claims }), signature].join('.');
}

export const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
