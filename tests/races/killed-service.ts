import { setImmediate } from 'node:timers/promises';
import type { Run } from '../support/process.ts';
import { Client, PASSWORD } from '../support/service.ts';

/** A process of the service that is killed and started again while clients use it. */
export class KilledService {
  readonly launch: () => Run;
  run: Run;
  /** The administrator of 000000. The token stays valid when the service restarts, the address does not. */
  readonly root: Client;
  /** The address of the service. Pending while the service restarts. */
  base: Promise<string>;

  private constructor(launch: () => Run, run: Run, root: Client) {
    this.launch = launch;
    this.run = run;
    this.root = root;
    this.base = Promise.resolve(root.base);
  }

  static async start(launch: () => Run): Promise<KilledService> {
    const run = launch();
    return new KilledService(launch, run, await run.admin());
  }

  /**
   * Kills the service in the middle of writes and starts it again. It is suspended first, so requests sent meanwhile are certain
   * to be cut off.
   */
  async killAndRestart(): Promise<void> {
    this.run.child.kill('SIGSTOP');
    // Let writers whose responses have arrived send their next request.
    for (let turn = 0; turn < 3; turn++) await setImmediate();
    this.base = this.run.kill('SIGKILL').then(async () => {
      this.run = this.launch();
      return (await this.run.ready()).base;
    });
    await this.base;
  }

  /** Creates a tenant and logs in as its administrator. */
  async createTenant(above = this.root): Promise<Client> {
    const base = await this.base;
    const creator = new Client(base, above.token);
    const id = await creator.create('/system/tenant-api', { tenantName: 't', username: 'boss', password: PASSWORD });
    const { tenantId } = (await creator.get(`/system/tenant-api/${id}`)).data;
    const { data } = await creator.post('/auth/login', { tenantId, username: 'boss', password: PASSWORD });
    return new Client(base, data.access_token, undefined, tenantId);
  }
}
