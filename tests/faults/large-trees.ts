import { after } from '../support/cleanup.ts';
import { type Client, startService } from '../support/service.ts';
import {
  countOpenTransactions,
  dropSearchIndexes,
  insertDepartments,
  requestTree,
  type UnreadResponse,
} from '../support/trees.ts';
import { waitFor } from '../support/wait.ts';

/** Starts a service with three tenants whose trees are streamed, because they have more than 10,000 departments. */
export async function startWithLargeTrees() {
  const service = await startService();
  const treeResponses: UnreadResponse[] = [];
  // Closing the service waits for open responses, which a failed test may have left. Cleanups run in reverse order: this one is
  // registered after the service has started, so that it runs before the service is closed.
  after(() => {
    for (const { response } of treeResponses) response.destroy();
  });
  const { superuser } = service;
  // No test here searches or sorts, and indexing the long names takes most of the time of inserting them.
  await dropSearchIndexes(superuser);

  /** Creates a tenant with a large tree. 20,000 departments are 14 MB: more than socket buffers hold while nobody reads. */
  async function createLargeTenant(first: number, count = 20_000) {
    const client = await service.createTenant();
    const parentOf = 'case when n > 9 then n / 9 end';
    await insertDepartments(superuser, client.tenantId, {
      first,
      count,
      parentOf,
      name: `repeat('🌳', 100)`,
      leader: `repeat('🌳', 50)`,
    });
    return client;
  }
  const tenants = [
    await createLargeTenant(1_000_000),
    await createLargeTenant(2_000_000),
    await createLargeTenant(3_000_000, 10_001),
  ] as const;

  async function openTree(client: Client): Promise<UnreadResponse> {
    const tree = await requestTree(client);
    treeResponses.push(tree);
    return tree;
  }
  const waitForOpen = (count: number) =>
    waitFor(`${count} transactions are open`, async () => (await countOpenTransactions(superuser)) === count);

  return { service, superuser, tenants, openTree, waitForOpen };
}
