import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { useDebouncedValue } from '../ui/use-debounced-value.ts';
import { getErrorMessage } from '../ui/use-notify.ts';
import { changesTexts } from './texts.ts';

const MAX_RESULTS = 20;

/** Selects all tenants, the current tenant only, or a descendant by name or code. */
export function TenantFilter({ value, onChange }: { value: string | null; onChange: (tenant: string | null) => void }) {
  const t = useTexts(changesTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const [searchText, setSearchText] = useState('');
  const [open, setOpen] = useState(false);
  const keyword = useDebouncedValue(searchText.trim(), 200);
  const { data, error, isFetching } = useQuery({
    queryKey: queryKeys.tenants.list({ keyword, pageSize: MAX_RESULTS }),
    queryFn: ({ signal }) => api.listTenants({ ...(keyword ? { keyword } : {}), pageSize: MAX_RESULTS }, signal),
    placeholderData: keepPreviousData,
    enabled: open,
  });
  const selectedId = value && value !== 'own' ? value : '';
  const selected = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId: selectedId }),
    queryFn: ({ signal }) => api.listTenants({ tenantId: selectedId }, signal),
    enabled: selectedId !== '',
  });
  const toOption = ({ tenantId, tenantName }: { tenantId: string; tenantName: string | null }) => ({
    value: tenantId,
    label: `${tenantName ?? ''} ${tenantId}`.trim(),
  });
  const selectedOption = selected.data?.data.rows.map(toOption)[0];
  const results = (data?.data.rows ?? []).filter(({ tenantId }) => tenantId !== ownTenantId).map(toOption);
  return (
    <Select<string>
      value={value}
      onChange={(tenant) => onChange(tenant ?? null)}
      onOpenChange={setOpen}
      placeholder={t.ownAndDescendants}
      aria-label={t.tenant}
      allowClear
      showSearch={{ filterOption: false, onSearch: setSearchText }}
      loading={open && isFetching}
      notFoundContent={error ? getErrorMessage(error) : t.noTenantFound}
      options={[...(searchText ? [] : [{ value: 'own', label: t.ownOnly }]), ...results]}
      labelRender={({ label, value: tenant }) =>
        tenant === 'own' ? t.ownOnly : (label ?? selectedOption?.label ?? String(tenant))
      }
    />
  );
}
