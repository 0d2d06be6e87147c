import assert from 'node:assert/strict';
import { errorCode, isRetryable } from '../../db/errors.ts';
import { type ApiResponse, Client, PASSWORD, type Service } from '../support/service.ts';
import { waitFor } from '../support/wait.ts';
import { Model } from './model.ts';
import { type CallerName, type Request, type Session, State } from './state.ts';

/**
 * The tenants in which sequences run: a tenant below 000000 with tenants below it, and their users and departments. Each tenant
 * is shown by the name of its administrator.
 *
 *   000000 ── above ─┬─ boss, member, ann and bob (accountCount: 5); departments 1 > 2 > 3, and 4 with ann in it
 *                    │    └─ child
 *                    └─ sibling
 *
 * The other tenants have one department each.
 *
 * Creating a world takes almost thirty requests, so it is created once and restored before each sequence.
 */
export class World {
  private readonly service: Service;
  private readonly start: State;
  private readonly codes: string[];

  private constructor(service: Service, start: State) {
    this.service = service;
    this.start = start;
    this.codes = start.tenants.map(({ tenantId }) => tenantId).filter((code) => code !== '000000');
  }

  /** Creates the world request by request, and checks each response against the model. */
  static async create(service: Service): Promise<World> {
    const state = await initialState(service);
    const model = new Model(state);
    const send = async (caller: CallerName, path: string, body: object) => {
      const request: Request = { caller, method: 'POST', path, query: {}, body };
      const { response, difference } = await perform(service, model, request);
      assert.equal(difference, undefined, `${path} returned ${response.text}`);
    };
    const logIn = async (caller: CallerName, tenantId: string) => {
      await send('nobody', '/auth/login', { tenantId, username: caller, password: PASSWORD });
      state.callers[caller] = state.callers.guest as Session;
    };
    const createTenant = async (by: CallerName, username: CallerName, body = {}) => {
      await send(by, '/system/tenant-api', { tenantName: username, username, password: PASSWORD, ...body });
      await logIn(username, state.tenants.at(-1)?.tenantId as string);
    };
    const createDept = async (by: CallerName, body = {}) => {
      await send(by, '/system/dept-api', body);
      return state.depts.at(-1)?.deptId as number;
    };
    const createUser = (userName: string, body = {}) =>
      send('boss', '/system/user-api', { userName, password: PASSWORD, ...body });

    await createTenant('guest', 'above');
    await createTenant('above', 'boss', { accountCount: 5 });
    await createTenant('boss', 'child');
    await createTenant('above', 'sibling');
    await createDept('boss', { parentId: await createDept('boss', { parentId: await createDept('boss') }) });
    await createDept('above');
    await createDept('child');
    await createDept('sibling');
    await createUser('member');
    await createUser('ann', { deptId: await createDept('boss') });
    await createUser('bob', { roles: ['admin'] });
    const home = state.callers.boss?.tenantId as string;
    await logIn('member', home);
    // The guest is bob until another user logs in.
    await send('nobody', '/auth/login', { tenantId: home, username: 'bob', password: PASSWORD });
    // All worlds share 000000, so its administrator takes no part.
    state.users.shift();
    state.sessions.shift();
    const world = new World(service, state);
    await world.save();
    return world;
  }

  /** Restores the world and returns a model of it. */
  async begin(): Promise<Model> {
    const { superuser } = this.service;
    const restore = () =>
      superuser.begin(async (tx) => {
        // Disable foreign keys: they hold again once all tables are restored.
        await tx`set local session_replication_role = replica`;
        await tx`select saved.restore(${this.codes})`;
      });
    // The service seals changes in the background and locks rows in another order, so a deadlock may end the restoration.
    await waitFor('the world is restored', () =>
      restore().then(
        () => true,
        (error) => {
          if (!isRetryable(errorCode(error))) throw error;
        },
      ),
    );
    return new Model(this.start.copy());
  }

  step = (model: Model, request: Request) => perform(this.service, model, request);

  private async save(): Promise<void> {
    const { superuser } = this.service;
    await superuser`create schema if not exists saved`;
    const tables = await tablesOf(this.service);
    for (const table of tables) {
      const copy = superuser(`saved.${table}`);
      await superuser`create table if not exists ${copy} (like ${superuser(table)})`;
      await superuser`insert into ${copy} select * from ${superuser(table)} where tenant_id = any(${this.codes})`;
    }
    // Restore in one round trip. Tenants that a sequence created are below those of the world.
    const statements = tables.map(
      (table) => `
        delete from banyan.${table} where tenant_id = any(all_codes);
        insert into banyan.${table} select * from saved.${table} where tenant_id = any(codes);`,
    );
    await superuser.unsafe(`
      create or replace function saved.restore(codes text[]) returns void language plpgsql as $$
      declare all_codes text[] := codes || array(select tenant_id from banyan.tenants where path && codes);
      begin
        ${statements.join('')}
        delete from banyan.login_addresses;
      end $$`);
  }
}

/** All tables with a tenant_id. */
const tablesOf = async ({ superuser }: Service) => {
  const rows = await superuser<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'tenant_id' order by 1`;
  return rows.map(({ name }) => name);
};

/** The initial state: 000000, and its administrator as the guest. */
async function initialState({ root }: Service): Promise<State> {
  const { user, tenant } = (await root.get('/auth/me')).data;
  const auditFields = { createBy: 'system', updateBy: '', version: 0, deleted: false };
  const { id, tenantId, quotaBo: quotas, ...fields } = tenant;
  const session = {
    tenantId,
    userId: user.userId,
    access: root.token,
    refresh: root.refreshToken,
    used: [],
    ended: false,
  };
  const state = new State();
  state.tenants.push({ id, tenantId, tenantParent: null, fields, quotas, ...auditFields });
  const { userId, userName } = user;
  const noDepartments = { deptId: null, deptIds: [] };
  state.users.push({
    userId,
    tenantId,
    userName,
    password: PASSWORD,
    administrator: true,
    ...noDepartments,
    fields: { status: '0' },
    ...auditFields,
  });
  Object.assign(state, { sessions: [session], callers: { guest: session } });
  return state;
}

async function perform(service: Service, model: Model, request: Request) {
  const expected = model.expect(request);
  const response = await send(service, model.state, request);
  const readAsRoot = async (path: string) => (await service.root.get(path)).data;
  const difference = await model.verify(request, expected, response, readAsRoot);
  return { expected, response, difference };
}

function send(
  { base }: Service,
  { callers }: State,
  { caller, method, path, query, body, key, ifMatch }: Request,
): Promise<ApiResponse> {
  const token = caller === 'forger' ? 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x' : callers[caller]?.access;
  const search = new URLSearchParams(query).toString();
  return new Client(base, token).call(method, search ? `${path}?${search}` : path, body, {
    headers: { ...(key ? { 'idempotency-key': key } : {}), ...(ifMatch ? { 'if-match': ifMatch } : {}) },
  });
}
