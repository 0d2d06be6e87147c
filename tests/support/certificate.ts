import { createHash, generateKeyPairSync, sign } from 'node:crypto';

/**
 * Creates a self-signed certificate for one name, with its key. Node.js can read certificates but not create them, so this
 * encodes the necessary parts of X.509 (RFC 5280) in DER.
 */
export function createCertificate(name: string): { cert: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const publicInfo = publicKey.export({ type: 'spki', format: 'der' });
  const algorithm = sequence(oid('2a8648ce3d040302')); // ecdsa-with-SHA256
  const commonName = sequence(der(0x31, sequence(oid('550403'), der(0x0c, Buffer.from(name)))));
  const subjectAltName = sequence(oid('551d11'), der(0x04, sequence(der(0x82, Buffer.from(name)))));
  const day = 86_400_000;
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))), // version 3
    // The first byte is not zero: DER allows no superfluous leading zeros, and OpenSSL rejects them.
    integer(Buffer.from([1, ...createHash('sha256').update(publicInfo).digest().subarray(0, 7)])),
    algorithm,
    commonName,
    sequence(generalizedTime(Date.now() - day), generalizedTime(Date.now() + day)),
    commonName,
    publicInfo,
    der(0xa3, sequence(subjectAltName)),
  );
  const signature = sign('sha256', body, privateKey);
  const certificate = sequence(body, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = certificate.toString('base64').replace(/.{64}/g, '$&\n').trimEnd();
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function der(tag: number, ...parts: Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...parts: Buffer[]) => der(0x30, ...parts);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
/** A leading zero byte keeps the number positive. */
const integer = (bytes: Buffer) => der(0x02, Buffer.from((bytes[0] as number) > 0x7f ? [0] : []), bytes);
const generalizedTime = (time: number) =>
  der(0x18, Buffer.from(`${new Date(time).toISOString().replace(/\D/g, '').slice(0, 14)}Z`));
