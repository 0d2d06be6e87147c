import type { ApiResponse } from '../support/service.ts';
import { departments } from './departments.ts';
import type { ExpectedError } from './fields.ts';
import { logins } from './logins.ts';
import {
  comparable,
  type Operation,
  type Outcome,
  type ReadAsRoot,
  RejectedError,
  type Request,
  reject,
  rejectIfAny,
  type State,
} from './state.ts';
import { subtrees } from './subtrees.ts';
import { tenants } from './tenants.ts';
import { users } from './users.ts';

/**
 * An in-memory model of the interface, written from its documentation: the expected response to a request and the state
 * afterwards. Where the documentation allows several errors for a request in no particular order, any of them is accepted.
 */

const operations: Record<string, Operation> = {
  ...crud('/system/dept-api', departments),
  'GET /system/dept-api/tree': subtrees.tree,
  'PUT /system/dept-api/order': subtrees.order,
  'POST /system/dept-api/bulk': subtrees.bulk,
  'POST /system/dept-api/batch-read': subtrees.batchRead,
  'GET /system/dept-api/{id}/children': subtrees.children,
  'GET /system/dept-api/{id}/users': subtrees.users,
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

interface StoredResponse {
  request: string;
  text: string;
  location: string | undefined;
}

export interface Expected {
  /** Without an outcome the service must return one of these errors; with an outcome it may. */
  errors: ExpectedError[];
  outcome?: Outcome;
  /** The response that must be replayed. */
  replay?: StoredResponse;
  /** The name under which the response is stored for retries. */
  storeAs?: string;
}

export class Model {
  readonly state: State;
  private readonly stored = new Map<string, StoredResponse>();

  constructor(state: State) {
    this.state = state;
  }

  expect(request: Request): Expected {
    const expected: Expected = { errors: [] };
    try {
      const outcome = this.evaluate(request, expected);
      if (outcome) Object.assign(expected, { outcome, errors: outcome.possibleErrors ?? [] });
    } catch (error) {
      if (!(error instanceof RejectedError)) throw error;
      expected.errors = error.errors;
    }
    return expected;
  }

  private evaluate(request: Request, expected: Expected): Outcome | undefined {
    const { method, path, caller, key } = request;
    const [, base = path, id = '', part = ''] = /^(\/system\/[a-z]+-api)\/([^/]+)(\/[a-z]+)?$/.exec(path) ?? [];
    const operation = operations[`${method} ${path}`] ?? operations[`${method} ${base}/{id}${part}`];
    if (!operation) throw new Error(`The model has no ${method} ${path}`);
    const inputErrors = operation.validate(request, id);
    if (operation.requiredRole === 'none') {
      rejectIfAny(...inputErrors);
      return operation.rule(this.state, undefined as never, request, id);
    }
    if (caller === 'forger') reject('INVALID_TOKEN');
    const session = this.state.callers[caller];
    if (!session) return reject('NO_TOKEN');
    // The documentation does not say whether the caller or the input is checked first.
    const accessErrors = this.state.accessErrors(session);
    if (accessErrors.length > 0) rejectIfAny(...accessErrors, ...inputErrors);
    const me = this.state.userOfSession(session);
    if (operation.requiredRole === 'administrator' && !me.administrator)
      rejectIfAny({ reason: 'NOT_ALLOWED' }, ...inputErrors);
    rejectIfAny(...inputErrors);
    if (key !== undefined) {
      const name = JSON.stringify([me.tenantId, me.userId, key]);
      const stored = this.stored.get(name);
      if (stored && stored.request !== fingerprint(request)) reject('KEY_REUSED');
      if (stored) {
        expected.replay = stored;
        return undefined;
      }
      expected.storeAs = name;
    }
    return operation.rule(this.state, me, request, id);
  }

  /** Compares a response with the expected one and updates the state. Returns the difference, if any. */
  async verify(
    request: Request,
    expected: Expected,
    response: ApiResponse,
    readAsRoot: ReadAsRoot,
  ): Promise<string | undefined> {
    const { outcome, replay, storeAs } = expected;
    const { text, headers } = response;
    const replayed = headers['idempotent-replayed'];
    if (replay) {
      return replay.text === text && replay.location === headers.location && replayed === 'true'
        ? undefined
        : `expected the replayed response: ${replay.text} ${replay.location ?? ''}`;
    }
    if (replayed) return 'expected no Idempotent-Replayed';
    const difference =
      response.status === 200
        ? await this.verifySuccess(outcome, response, readAsRoot)
        : this.verifyError(expected, response);
    if (difference) return difference;
    if (storeAs) this.stored.set(storeAs, { request: fingerprint(request), text, location: headers.location });
    return undefined;
  }

  private async verifySuccess(
    outcome: Outcome | undefined,
    response: ApiResponse,
    readAsRoot: ReadAsRoot,
  ): Promise<string | undefined> {
    if (!outcome) return 'expected an error';
    const { code, msg, data, headers } = response;
    if (code !== 200 || msg !== '操作成功') return 'expected code 200 and 操作成功';
    if (outcome.matches) {
      if (!outcome.matches(data)) return `unexpected data`;
    } else {
      const [actual, wanted] = [data, outcome.data ?? null].map(comparable);
      if (actual !== wanted) return `expected data ${wanted}`;
    }
    const { creates, revision } = outcome;
    const location = headers.location;
    if (creates ? !location || !/^\/\d+$/.test(location.slice(creates.length)) : location) return 'wrong Location';
    if (revision) {
      const problem = this.state.recordTag(revision, headers.etag);
      if (problem) return problem;
    }
    await outcome.apply?.(response, readAsRoot);
    return undefined;
  }

  private verifyError({ errors }: Expected, { status, code, data }: ApiResponse): string | undefined {
    const match = errors.find(({ reason, details = {} }) => {
      const { revision: _, ...compared } = details;
      return (
        reason === data?.reason &&
        Object.entries(compared).every(([name, detail]) => matchesDetail(name, data[name], detail))
      );
    });
    if (!match || status !== code || !STATUSES[status]?.includes(match.reason)) return 'unexpected response';
    const revision = match.details?.revision;
    return revision ? this.state.recordTag(revision as never, data.etag) : undefined;
  }
}

const fingerprint = ({ method, path, query, body }: Request) => JSON.stringify([method, path, query, body]);

/** The service may name a nested field such as `deptIds[0]`. Ids are compared as text because those in paths are text. */
function matchesDetail(name: string, actual: unknown, expected: unknown): boolean {
  if (name === 'field') return actual === expected || /^[.[]/.test(String(actual).replace(String(expected), ''));
  const [one, other] = [actual, expected].map((value) => [value].flat().map(String).sort().join());
  return one === other;
}
