import { api, type ListedTenant } from '../api.ts';

/** Reads the path from the current tenant down to a descendant. A tenant only knows its parent, so this walks up. */
export async function readTenantPath(id: string, ownTenantId: string, signal?: AbortSignal): Promise<ListedTenant[]> {
  const path: ListedTenant[] = [(await api.readTenant(id, signal)).data];
  for (;;) {
    const [top] = path as [ListedTenant];
    if (top.tenantId === ownTenantId || !top.tenantParent) return path;
    const { data } = await api.listTenants({ tenantId: top.tenantParent }, signal);
    const [parent] = data.rows;
    // The tenant was moved in the meantime.
    if (!parent || path.some(({ id }) => id === parent.id)) return path;
    path.unshift(parent);
  }
}
