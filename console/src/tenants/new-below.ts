export const newBelow = (code: string) => (code ? `/tenants/new?parent=${code}` : '/tenants/new');
