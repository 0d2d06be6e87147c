import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useLater } from '../ui/department-select.tsx';
import { wordsFor } from '../ui/notices.ts';
import { changesTexts } from './texts.ts';

const ENOUGH = 20;

/** All, the own tenant alone, or one below, found by name or code. */
export function TenantFilter({ value, onChange }: { value: string | null; onChange: (tenant: string | null) => void }) {
  const t = useTexts(changesTexts);
  const own = useMe().tenant.tenantId;
  const [typed, setTyped] = useState('');
  const [open, setOpen] = useState(false);
  const keyword = useLater(typed.trim(), 200);
  const { data, error, isFetching } = useQuery({
    queryKey: ['tenant-list', { keyword, pageSize: ENOUGH }],
    queryFn: ({ signal }) => api.listTenants({ ...(keyword ? { keyword } : {}), pageSize: ENOUGH }, signal),
    placeholderData: (before) => before,
    enabled: open,
  });
  const one = value && value !== 'own' ? value : '';
  const chosen = useQuery({
    queryKey: ['tenant-list', { tenantId: one }],
    queryFn: ({ signal }) => api.listTenants({ tenantId: one }, signal),
    enabled: one !== '',
  });
  const named = ({ tenantId, tenantName }: { tenantId: string; tenantName: string | null }) => ({
    value: tenantId,
    label: `${tenantName ?? ''} ${tenantId}`.trim(),
  });
  const known = chosen.data?.data.rows.map(named)[0];
  const found = (data?.data.rows ?? []).filter(({ tenantId }) => tenantId !== own).map(named);
  return (
    <Select<string>
      value={value}
      onChange={(tenant) => onChange(tenant ?? null)}
      onOpenChange={setOpen}
      placeholder={t.ownAndBelow}
      aria-label={t.tenant}
      allowClear
      showSearch={{ filterOption: false, onSearch: setTyped }}
      loading={open && isFetching}
      notFoundContent={error ? wordsFor(error) : t.searchTenant}
      options={[...(typed ? [] : [{ value: 'own', label: t.ownOnly }]), ...found]}
      labelRender={({ label, value: code }) => (code === 'own' ? t.ownOnly : (label ?? known?.label ?? String(code)))}
    />
  );
}
