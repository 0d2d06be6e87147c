import { api, type Tenant } from '../api.ts';

/** From the caller's own tenant down to one below it. A read tells the code of the parent alone, so it is walked up. */
export async function pathTo(id: string, ownCode: string, signal?: AbortSignal): Promise<Tenant[]> {
  const path = [(await api.readTenant(id, signal)).data];
  for (;;) {
    const [top] = path as [Tenant];
    if (top.tenantId === ownCode || !top.tenantParent) return path;
    const { data } = await api.listTenants({ tenantId: top.tenantParent }, signal);
    const [above] = data.rows;
    // Moved away while we walked.
    if (!above || path.some(({ id }) => id === above.id)) return path;
    path.unshift(above);
  }
}
