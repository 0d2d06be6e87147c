import { useQuery } from '@tanstack/react-query';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { useDepartmentNames, useTenantsByCode, useUserNames } from '../ui/record-names.ts';
import { sumsTexts } from './texts.ts';

/** The name of a user. Users of the current tenant are looked up too, because its administrators act in the tenants below. */
export function UserName({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(sumsTexts);
  const names = useUserNames([id], tenantId);
  const ownNames = useUserNames(tenantId === undefined ? [] : [id]);
  return names.get(id) ?? ownNames.get(id) ?? t.unknownUser(id);
}

/** The keys of other tenants cannot be read. */
export function KeyName({ id }: { id: number }) {
  const t = useTexts(sumsTexts);
  const filter = { pageSize: 100 };
  const { data } = useQuery({
    queryKey: queryKeys.keys.list(filter),
    queryFn: ({ signal }) => api.listKeys(filter, signal),
  });
  return data?.data.rows.find(({ keyId }) => keyId === id)?.keyName ?? t.unknownKey(id);
}

export function DepartmentName({ id, tenantId }: { id: number; tenantId: string | undefined }) {
  const t = useTexts(sumsTexts);
  const names = useDepartmentNames(tenantId === undefined ? [id] : []);
  return names.get(id) ?? t.unknownDepartment(id);
}

export function TenantName({ tenantId }: { tenantId: string }) {
  const own = useMe().tenant;
  const tenants = useTenantsByCode([tenantId]);
  const tenant = tenantId === own.tenantId ? own : tenants.get(tenantId);
  return `${tenant?.tenantName ?? ''} ${tenantId}`.trim();
}
