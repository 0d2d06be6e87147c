import type { ApiResponse, Client } from './service.ts';

/** The headers that plus-ui, the front end of RuoYi-Vue-Plus 5.x, sends with every request. */
const headers = {
  accept: 'application/json, text/plain, */*',
  'content-language': 'zh_CN',
  clientid: 'e5cd7e4891bf95d1d19206ce24a7b32e',
};

/** The body of plus-ui's login. */
export const loginForm = (tenantId: string, username: string, password: string) => ({
  tenantId,
  username,
  password,
  rememberMe: false,
  uuid: '',
  code: '',
  clientId: headers.clientid,
  grantType: 'password',
});

/** A response of the adapter; `rows` and `total` are at the top level. */
export type PlusUiResponse = ApiResponse & { rows: Record<string, unknown>[]; total: number };

/** Sends a request as plus-ui does. */
export async function plusUi(
  client: Client,
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  more: Record<string, string> = {},
): Promise<PlusUiResponse> {
  const type = body === undefined ? {} : { 'content-type': 'application/json;charset=utf-8' };
  const response = await client.call(method, path, body, { headers: { ...headers, ...type, ...more } });
  const { rows, total } = JSON.parse(response.text);
  return { ...response, rows, total };
}
