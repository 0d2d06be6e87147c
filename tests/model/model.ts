import type { Answer } from '../support/service.ts';
import { branches } from './branches.ts';
import { departments } from './departments.ts';
import type { Refusal } from './fields.ts';
import { logins } from './logins.ts';
import {
  type Ask,
  comparable,
  type Operation,
  type Outcome,
  Refused,
  type Request,
  refuse,
  refuseAny,
  type State,
} from './state.ts';
import { tenants } from './tenants.ts';
import { users } from './users.ts';

/**
 * The whole interface once more, in memory, from its documents: what a request must be answered with, and what is so
 * afterwards. Where the documents name several reasons for one request and no order, any of them will do.
 */

const operations: Record<string, Operation> = {
  ...crud('/system/dept-api', departments),
  'GET /system/dept-api/tree': branches.tree,
  'PUT /system/dept-api/order': branches.order,
  'POST /system/dept-api/bulk': branches.bulk,
  'POST /system/dept-api/batch-read': branches.batchRead,
  'GET /system/dept-api/{id}/children': branches.children,
  'GET /system/dept-api/{id}/users': branches.users,
  ...crud('/system/tenant-api', tenants),
  ...crud('/system/user-api', users),
  'POST /auth/login': logins.logIn,
  'POST /auth/refresh': logins.refresh,
  'POST /auth/logout': logins.logOut,
  'GET /auth/me': logins.readMe,
  'PUT /auth/password': logins.changePassword,
};

function crud(path: string, verbs: Record<'create' | 'read' | 'update' | 'remove' | 'list', Operation>) {
  return {
    [`POST ${path}`]: verbs.create,
    [`PUT ${path}`]: verbs.update,
    [`GET ${path}/list`]: verbs.list,
    [`GET ${path}/{id}`]: verbs.read,
    [`DELETE ${path}/{id}`]: verbs.remove,
  };
}

const STATUSES: Record<number, string[]> = {
  400: [
    'BODY_REQUIRED',
    'FIELD_REQUIRED',
    'INVALID_FIELD',
    'TOO_MANY_IDS',
    'PARENT_NOT_FOUND',
    'NOT_CHILDREN',
    'TENANT_PARENT_NOT_FOUND',
    'USER_DEPT_NOT_FOUND',
    'WRONG_PASSWORD',
  ],
  401: [
    'NO_TOKEN',
    'INVALID_TOKEN',
    'SESSION_ENDED',
    'USER_DELETED',
    'TENANT_DELETED',
    'LOGIN_FAILED',
    'REFRESH_REFUSED',
  ],
  403: [
    'NOT_ALLOWED',
    'OTHER_TENANT',
    'TENANT_PARENT_FORBIDDEN',
    'OWN_TENANT',
    'USER_DISABLED',
    'TENANT_DISABLED',
    'TENANT_NOT_STARTED',
    'TENANT_ENDED',
  ],
  404: ['DEPT_NOT_FOUND', 'TENANT_NOT_FOUND', 'USER_NOT_FOUND'],
  409: [
    'DEPT_HAS_CHILDREN',
    'DEPT_HAS_USERS',
    'DEPT_CYCLE',
    'PARENT_DISABLED',
    'TENANT_HAS_CHILDREN',
    'TENANT_CYCLE',
    'ACCOUNT_LIMIT',
    'USER_NAME_TAKEN',
    'LAST_ADMINISTRATOR',
    'OWN_USER',
    'KEY_REUSED',
  ],
  412: ['CHANGED_MEANWHILE'],
  429: ['TOO_MANY_LOGINS'],
};

export const reasons = Object.values(STATUSES).flat();

interface Kept {
  request: string;
  text: string;
  location: string | undefined;
}

export interface Expected {
  /** One of these, when there is no outcome; else they may come, too. */
  refusals: Refusal[];
  outcome?: Outcome;
  /** The same answer as before. */
  kept?: Kept;
  /** Under which name the answer is kept for repeated requests. */
  keepAs?: string;
}

export class Model {
  readonly state: State;
  private readonly kept = new Map<string, Kept>();

  constructor(state: State) {
    this.state = state;
  }

  expect(request: Request): Expected {
    const expected: Expected = { refusals: [] };
    try {
      const outcome = this.perform(request, expected);
      if (outcome) Object.assign(expected, { outcome, refusals: outcome.unsure ?? [] });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      expected.refusals = error.refusals;
    }
    return expected;
  }

  private perform(request: Request, expected: Expected): Outcome | undefined {
    const { method, path, caller, key } = request;
    const [, base = path, id = '', part = ''] = /^(\/system\/[a-z]+-api)\/([^/]+)(\/[a-z]+)?$/.exec(path) ?? [];
    const operation = operations[`${method} ${path}`] ?? operations[`${method} ${base}/{id}${part}`];
    if (!operation) throw new Error(`The model has no ${method} ${path}`);
    const faults = operation.faults(request, id);
    if (operation.who === 'anybody') {
      refuseAny(...faults);
      return operation.rule(this.state, undefined as never, request, id);
    }
    if (caller === 'forger') refuse('INVALID_TOKEN');
    const session = this.state.callers[caller];
    if (!session) return refuse('NO_TOKEN');
    // No document says whether the caller or his input is looked at first.
    const shutOut = this.state.shutOut(session);
    if (shutOut.length > 0) refuseAny(...shutOut, ...faults);
    const me = this.state.holder(session);
    if (operation.who === 'administrator' && !me.administrator) refuseAny({ reason: 'NOT_ALLOWED' }, ...faults);
    refuseAny(...faults);
    if (key !== undefined) {
      const name = JSON.stringify([me.tenantId, me.userId, key]);
      const kept = this.kept.get(name);
      if (kept && kept.request !== fingerprint(request)) refuse('KEY_REUSED');
      if (kept) {
        expected.kept = kept;
        return undefined;
      }
      expected.keepAs = name;
    }
    return operation.rule(this.state, me, request, id);
  }

  /** Compares an answer with what was expected, and goes on from there. Tells the difference, if there is one. */
  async settle(request: Request, expected: Expected, answer: Answer, ask: Ask): Promise<string | undefined> {
    const { outcome, kept, keepAs } = expected;
    const { text, headers } = answer;
    const replayed = headers['idempotent-replayed'];
    if (kept) {
      return kept.text === text && kept.location === headers.location && replayed === 'true'
        ? undefined
        : `expected the same again: ${kept.text} ${kept.location ?? ''}`;
    }
    if (replayed) return 'expected no Idempotent-Replayed';
    const difference = answer.status === 200 ? await this.accept(outcome, answer, ask) : this.refused(expected, answer);
    if (difference) return difference;
    if (keepAs) this.kept.set(keepAs, { request: fingerprint(request), text, location: headers.location });
    return undefined;
  }

  private async accept(outcome: Outcome | undefined, answer: Answer, ask: Ask): Promise<string | undefined> {
    if (!outcome) return 'expected a refusal';
    const { code, msg, data, headers } = answer;
    if (code !== 200 || msg !== '操作成功') return 'expected code 200 and 操作成功';
    if (outcome.form) {
      if (!outcome.form(data)) return `expected another form of data`;
    } else {
      const [shown, wanted] = [data, outcome.data ?? null].map(comparable);
      if (shown !== wanted) return `expected data ${wanted}`;
    }
    const { creates, tagged } = outcome;
    const location = headers.location;
    if (creates ? !location || !/^\/\d+$/.test(location.slice(creates.length)) : location) return 'wrong Location';
    if (tagged) {
      const wrong = this.state.noteTag(tagged, headers.etag);
      if (wrong) return wrong;
    }
    await outcome.apply?.(answer, ask);
    return undefined;
  }

  private refused({ refusals }: Expected, { status, code, data }: Answer): string | undefined {
    const fitting = refusals.find(({ reason, facts = {} }) => {
      const { tagged: _, ...compared } = facts;
      return (
        reason === data?.reason && Object.entries(compared).every(([name, fact]) => isFact(name, data[name], fact))
      );
    });
    if (!fitting || status !== code || !STATUSES[status]?.includes(fitting.reason)) return 'expected another answer';
    const tagged = fitting.facts?.tagged;
    return tagged ? this.state.noteTag(tagged as never, data.etag) : undefined;
  }
}

const fingerprint = ({ method, path, query, body }: Request) => JSON.stringify([method, path, query, body]);

/** The field of a fault within may be named with its place: `deptIds[0]`. Ids come from paths as text. */
function isFact(name: string, told: unknown, fact: unknown): boolean {
  if (name === 'field') return told === fact || /^[.[]/.test(String(told).replace(String(fact), ''));
  const [one, other] = [told, fact].map((value) => [value].flat().map(String).sort().join());
  return one === other;
}
