import { type ApiResponse, Client } from './service.ts';

type Parameters = Record<string, string> | [name: string, value: string][];

/** Sends a form, as OAuth clients do. */
export const postForm = (
  base: string,
  path: string,
  parameters: Parameters,
  headers: Record<string, string> = {},
): Promise<ApiResponse> =>
  new Client(base).post(path, undefined, {
    raw: new URLSearchParams(parameters).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
  });

/** The Authorization header of a client. Id and secret are form-encoded before they are joined (RFC 6749 2.3.1). */
export const basic = (clientId: string, secret: string) => {
  const encode = (text: string) => new URLSearchParams({ '': text }).toString().slice(1);
  return { authorization: `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}` };
};

export async function createKey(admin: Client, body: object = {}): Promise<{ keyId: string; key: string }> {
  const response = await admin.post('/system/key-api', { keyName: 'k', permissions: ['dept:read'], ...body });
  if (response.code !== 200) throw new Error(`POST /system/key-api responded ${response.text}`);
  return { keyId: String(response.data.keyId), key: response.data.key };
}
