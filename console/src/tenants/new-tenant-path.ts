export const newTenantPath = (parentId: string) => (parentId ? `/tenants/new?parent=${parentId}` : '/tenants/new');
