import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { api, type TenantNode } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { getErrorMessage } from '../ui/use-notify.ts';
import { tenantsTexts } from './texts.ts';

interface Props {
  id?: string;
  value?: string | null;
  onChange?: (tenantId: string) => void;
  /** The internal id of the tenant to be moved. It and its descendants cannot be selected. */
  movedId?: string;
}

const MAX_RESULTS = 20;

/** Selects the current tenant or a descendant by name, company or code. */
export function ParentSelect({ id, value, onChange, movedId }: Props) {
  const t = useTexts(tenantsTexts);
  const [searchText, setSearchText] = useState('');
  const keyword = useDebouncedValue(searchText.trim(), 200);
  const { data, error, isFetching } = useQuery({
    queryKey: queryKeys.tenants.list({ keyword, pageSize: MAX_RESULTS }),
    queryFn: ({ signal }) => api.listTenants({ ...(keyword ? { keyword } : {}), pageSize: MAX_RESULTS }, signal),
  });
  const selected = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId: value }),
    queryFn: ({ signal }) => api.listTenants({ tenantId: value ?? '' }, signal),
    enabled: !!value,
  });
  const subtree = useQuery({
    queryKey: queryKeys.tenants.subtree(movedId),
    queryFn: ({ signal }) => api.readTenantTree({ rootId: movedId ?? '' }, signal),
    enabled: !!movedId,
    // The service rejects a subtree that is too large. Then an invalid parent is only detected on save.
    retry: false,
  });
  const disabledIds = new Set(subtree.data ? getTenantIds(subtree.data.data) : []);
  // Hide the results of the previous search: a quick Enter would select the wrong tenant.
  const searching = !error && (!data || searchText.trim() !== keyword);
  const results = searching ? [] : [...(data?.data.rows ?? [])];
  const current = selected.data?.data.rows[0];
  if (current && !searching && !keyword && !results.some(({ tenantId }) => tenantId === current.tenantId))
    results.unshift(current);
  const options = results.map(({ tenantId, tenantName }) => ({
    value: tenantId,
    label: `${tenantName ?? ''} ${tenantId}${disabledIds.has(tenantId) ? ` · ${t.ownSubtree}` : ''}`.trim(),
    disabled: disabledIds.has(tenantId),
  }));
  return (
    <Select
      {...(id ? { id } : {})}
      value={value ?? null}
      onChange={(tenantId: string) => onChange?.(tenantId)}
      showSearch={{ filterOption: false, onSearch: setSearchText }}
      loading={searching || isFetching}
      options={options}
      notFoundContent={searching ? t.searching : error ? getErrorMessage(error) : t.noneFound}
      labelRender={({ label, value: tenantId }) =>
        label ?? (current ? `${current.tenantName ?? ''} ${current.tenantId}`.trim() : String(tenantId))
      }
    />
  );
}

const getTenantIds = (node: TenantNode): string[] => [node.tenantId, ...node.children.flatMap(getTenantIds)];
