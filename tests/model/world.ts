import assert from 'node:assert/strict';
import { type Answer, Client, PASSWORD, type Service } from '../support/service.ts';
import { Model } from './model.ts';
import { type CallerName, type Request, type Session, State } from './state.ts';

/**
 * Where sequences take place: a tenant below 000000 with some below it, their administrators, people and departments.
 *
 *   000000 ── above ─┬─ boss, member, ann, bob of 5 accounts: departments 1 > 2 > 3, and 4 with ann in it
 *                    │    └─ child
 *                    └─ sibling      one department in each of the others
 *
 * Passwords are slow to hash, so a world is made once and put back as it was before each sequence.
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

  /** Made request by request, as the model says, too. */
  static async make(service: Service): Promise<World> {
    const state = await knownOfRoot(service);
    const model = new Model(state);
    const send = async (caller: CallerName, path: string, body: object) => {
      const request: Request = { caller, method: 'POST', path, query: {}, body };
      const { answer, difference } = await perform(service, model, request);
      assert.equal(difference, undefined, `${path} answered ${answer.text}`);
    };
    const logIn = async (caller: CallerName, tenantId: string) => {
      await send('nobody', '/auth/login', { tenantId, username: caller, password: PASSWORD });
      state.callers[caller] = state.callers.guest as Session;
    };
    const tenant = async (by: CallerName, username: CallerName, body = {}) => {
      await send(by, '/system/tenant-api', { tenantName: username, username, password: PASSWORD, ...body });
      await logIn(username, state.tenants.at(-1)?.tenantId as string);
    };
    const dept = async (by: CallerName, body = {}) => {
      await send(by, '/system/dept-api', body);
      return state.depts.at(-1)?.deptId as number;
    };
    const user = (userName: string, body = {}) =>
      send('boss', '/system/user-api', { userName, password: PASSWORD, ...body });

    await tenant('guest', 'above');
    await tenant('above', 'boss', { accountCount: 5 });
    await tenant('boss', 'child');
    await tenant('above', 'sibling');
    await dept('boss', { parentId: await dept('boss', { parentId: await dept('boss') }) });
    await dept('above');
    await dept('child');
    await dept('sibling');
    await user('member');
    await user('ann', { deptId: await dept('boss') });
    await user('bob', { roles: ['admin'] });
    const home = state.callers.boss?.tenantId as string;
    await logIn('member', home);
    // Until somebody else logs in, the guest is bob.
    await send('nobody', '/auth/login', { tenantId: home, username: 'bob', password: PASSWORD });
    // 000000 is everybody's: its administrator takes no part.
    state.users.shift();
    state.sessions.shift();
    const world = new World(service, state);
    await world.keep();
    return world;
  }

  /** The world as it was made, and a model of it. */
  async begin(): Promise<Model> {
    const { superuser } = this.service;
    await superuser.begin(async (tx) => {
      // Keys between tables hold again when all is back.
      await tx`set local session_replication_role = replica`;
      await tx`select kept.put_back(${this.codes})`;
    });
    return new Model(this.start.copy());
  }

  step = (model: Model, request: Request) => perform(this.service, model, request);

  private async keep(): Promise<void> {
    const { superuser } = this.service;
    await superuser`create schema if not exists kept`;
    const tables = await tablesOf(this.service);
    for (const table of tables) {
      const kept = superuser(`kept.${table}`);
      await superuser`create table if not exists ${kept} (like ${superuser(table)})`;
      await superuser`insert into ${kept} select * from ${superuser(table)} where tenant_id = any(${this.codes})`;
    }
    // In one round trip. Tenants that a sequence created lie below those of the world.
    const statements = tables.map(
      (table) => `
        delete from banyan.${table} where tenant_id = any(every);
        insert into banyan.${table} select * from kept.${table} where tenant_id = any(codes);`,
    );
    await superuser.unsafe(`
      create or replace function kept.put_back(codes text[]) returns void language plpgsql as $$
      declare every text[] := codes || array(select tenant_id from banyan.tenants where path && codes);
      begin
        ${statements.join('')}
        delete from banyan.login_addresses;
      end $$`);
  }
}

/** Every table with something of a tenant in it. */
const tablesOf = async ({ superuser }: Service) => {
  const rows = await superuser<{ name: string }[]>`
    select table_name as name from information_schema.columns
    where table_schema = current_schema() and column_name = 'tenant_id' order by 1`;
  return rows.map(({ name }) => name);
};

/** What there is before anything is made: 000000, and its administrator as the guest. */
async function knownOfRoot({ root }: Service): Promise<State> {
  const { user, tenant } = (await root.get('/auth/me')).data;
  const stamps = { createBy: 'system', updateBy: '', version: 0, deleted: false };
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
  state.tenants.push({ id, tenantId, tenantParent: null, fields, quotas, ...stamps });
  const { userId, userName } = user;
  const place = { deptId: null, deptIds: [] };
  state.users.push({
    userId,
    tenantId,
    userName,
    password: PASSWORD,
    administrator: true,
    ...place,
    fields: { status: '0' },
    ...stamps,
  });
  Object.assign(state, { sessions: [session], callers: { guest: session } });
  return state;
}

async function perform(service: Service, model: Model, request: Request) {
  const expected = model.expect(request);
  const answer = await send(service, model.state, request);
  const ask = async (path: string) => (await service.root.get(path)).data;
  const difference = await model.settle(request, expected, answer, ask);
  return { expected, answer, difference };
}

function send(
  { base }: Service,
  { callers }: State,
  { caller, method, path, query, body, key, ifMatch }: Request,
): Promise<Answer> {
  const token = caller === 'forger' ? 'eyJhbGciOiJub25lIn0.eyJzdWIiOiIxIn0.x' : callers[caller]?.access;
  const asked = new URLSearchParams(query).toString();
  return new Client(base, token).call(method, asked ? `${path}?${asked}` : path, body, {
    headers: { ...(key ? { 'idempotency-key': key } : {}), ...(ifMatch ? { 'if-match': ifMatch } : {}) },
  });
}
