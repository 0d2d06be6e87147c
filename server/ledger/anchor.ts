import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** The end of a ledger's hash chain. */
export interface Head {
  tenantId: string;
  seq: number;
  /** In hexadecimal. */
  hash: string;
}

/**
 * The heads of all ledgers at about `time`. An attacker who can write to the tables can rewrite a whole chain. Only a copy of its
 * head that is kept out of their reach reveals it.
 */
export interface Anchor {
  time: string;
  heads: Head[];
  /** Ed25519, in base64. */
  signature?: string | undefined;
}

/** An anchor or a key that cannot be used. */
class AnchorError extends Error {}

const contentOf = ({ time, heads }: Anchor): Buffer =>
  Buffer.from(JSON.stringify([time, heads.map(({ tenantId, seq, hash }) => [tenantId, seq, hash])]));

/** Creates an anchor, signed if there is a private key in PEM format. */
export function createAnchor(time: string, heads: Head[], pem: string | undefined): Anchor {
  const anchor: Anchor = { time, heads };
  if (pem === undefined) return anchor;
  const key = readKey(() => createPrivateKey(pem));
  return { ...anchor, signature: sign(null, contentOf(anchor), key).toString('base64') };
}

/** Parses an anchor and checks its signature with a key in PEM format, private or public. */
export function parseAnchor(text: string, pem: string | undefined): Anchor {
  const anchor = parse(text);
  const { signature } = anchor;
  if (signature === undefined && pem === undefined) return anchor;
  if (signature === undefined) throw new AnchorError('The anchor is not signed. Omit --key to compare it anyway');
  if (pem === undefined) throw new AnchorError('The anchor is signed. Pass the key with --key to check it');
  const key = readKey(() => createPublicKey(pem));
  if (!verify(null, contentOf(anchor), key, Buffer.from(signature, 'base64'))) {
    throw new AnchorError('The signature of the anchor is wrong: the anchor was altered, or this is a different key');
  }
  return anchor;
}

function readKey(read: () => KeyObject): KeyObject {
  const problem =
    'The key must be an Ed25519 key in PEM format: openssl genpkey -algorithm ed25519 -out anchor-key.pem';
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw new AnchorError(problem);
  }
  if (key.asymmetricKeyType !== 'ed25519') throw new AnchorError(problem);
  return key;
}

function parse(text: string): Anchor {
  try {
    // npm prints the command before the anchor, unless it is called with --silent.
    const { time, heads, signature } = JSON.parse(text.slice(text.indexOf('{'))) as Anchor;
    const isHead = ({ tenantId, seq, hash }: Head) =>
      typeof tenantId === 'string' && Number.isSafeInteger(seq) && /^[0-9a-f]*$/.test(hash);
    if (typeof time === 'string' && heads.every(isHead)) return { time, heads, signature };
  } catch {
    // Report it below.
  }
  throw new AnchorError('The file is not an anchor that this command printed');
}
