import { once } from 'node:events';
import http from 'node:http';
import { text as textOf } from 'node:stream/consumers';
import type { ApiResponse, Client } from '../../support/service.ts';

/** A call of an operation on a tenant and the responses that other callers must get. */
export interface Row {
  operation: string;
  /** Distinguishes several calls of one operation. */
  variant?: string;
  call(client: Client, target: Target): Promise<ApiResponse>;
  /** The response to an administrator of a sibling or child tenant. */
  other: string;
  /** The response to a member of the same tenant; NOT_ALLOWED by default. */
  member?: string;
  /** The response to the administrator of the tenant, which proves that the call itself is valid. */
  admin?: string;
  /** Whether the response differs from that for an unknown id. The interface requires this for a tenantParent only. */
  revealsExistence?: boolean;
  /** The operation needs no token and ignores an invalid one. */
  isPublic?: boolean;
}

/** The ids that the calls use. */
export interface Target {
  parent: string;
  leaf: string;
  user: string;
  secondUser: string;
  /** The external id of `leaf` and of `user`, of the source `hr`. */
  externalId: string;
  /** The code and id of the tenant, and those of the tenant below it. */
  code: string;
  id: string;
  belowCode: string;
  belowId: string;
  /** Another session of the administrator. */
  session: string;
  /** A disabled webhook and a delivery of it. */
  webhook: string;
  delivery: string;
  apiKey: string;
  /** Two open reservations of the quota `calls`, and a use of it. */
  reservation: string;
  secondReservation: string;
  use: string;
  /** A deleted department, a deleted user, and the id of a deleted tenant below. */
  deletedDept: string;
  deletedUser: string;
  deletedId: string;
  /** The change that created `leaf`. */
  change: string;
}
/** Ids that do not exist. */
export const absent: Target = {
  parent: '777777771',
  leaf: '777777772',
  user: '777777773',
  secondUser: '777777784',
  externalId: '777777781',
  code: '777777777777777771',
  id: '7777777777777777771',
  belowCode: '777777777777777772',
  belowId: '7777777777777777772',
  session: '77777777-7777-4777-8777-777777777777',
  webhook: '777777774',
  delivery: '777777775',
  apiKey: '777777780',
  reservation: '777777782',
  secondReservation: '777777785',
  use: '777777783',
  deletedDept: '777777778',
  deletedUser: '777777779',
  deletedId: '7777777777777777773',
  change: '0000000000777777776',
};

export const OK = '200';
export const dept = '/system/dept-api';
export const tenant = '/system/tenant-api';
export const people = '/system/user-api';
export const hook = '/system/webhook-api';
export const keys = '/system/key-api';
export const quotas = '/system/quota-api';
export const newKey = { keyName: 'key', permissions: ['dept:read'] };
/** A disabled webhook with a public address, which is never called. */
export const disabledWebhook = { url: 'https://93.184.216.34/', status: '1' };

/** The current time, which is in the past for the database too because it runs on the same machine. */
export const now = () => new Date().toISOString();

/** Requests an event stream. An open stream does not end, so it is closed after its headers. */
export async function openStream({ base, token }: Client, path: string): Promise<ApiResponse> {
  const headers = token ? { authorization: `Bearer ${token}` } : {};
  // Do not use fetch: it keeps connections open, and the service would wait for them when it is closed.
  const request = http.get(base + path, { headers, agent: false });
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  const isOpen = response.headers['content-type']?.startsWith('text/event-stream') ?? false;
  const text = isOpen ? '' : await textOf(response);
  request.destroy();
  const { code, msg, data } = isOpen ? { code: 200, msg: '', data: null } : JSON.parse(text);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers as ApiResponse['headers'],
    text,
    code,
    msg,
    data,
  };
}

/** A public operation returns the same to every caller. */
export function publicOperation(operation: string, response: string, call: Row['call']): Row[] {
  return [{ operation, call, other: response, member: response, admin: response, isPublic: true }];
}
