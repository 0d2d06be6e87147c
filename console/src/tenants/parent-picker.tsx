import { useQuery } from '@tanstack/react-query';
import { Select } from 'antd';
import { useState } from 'react';
import { api, type TenantNode } from '../api.ts';
import { useTexts } from '../language.ts';
import { wordsFor } from '../ui/notices.ts';
import { tenantsTexts } from './texts.ts';

interface Picking {
  id?: string;
  value?: string | null;
  onChange?: (code: string) => void;
  /** Internal id of the tenant that is to be moved: itself and what is below it cannot be chosen, and say why. */
  beneath?: string;
}

const ENOUGH = 20;

/** The caller's tenant or one below it, found by name or code. */
export function ParentPicker({ id, value, onChange, beneath }: Picking) {
  const t = useTexts(tenantsTexts);
  const [keyword, setKeyword] = useState('');
  const { data, error, isFetching } = useQuery({
    queryKey: ['tenant-list', { keyword, pageSize: ENOUGH }],
    queryFn: ({ signal }) => api.listTenants({ ...(keyword ? { keyword } : {}), pageSize: ENOUGH }, signal),
    placeholderData: (before) => before,
  });
  const chosen = useQuery({
    queryKey: ['tenant-list', { tenantId: value }],
    queryFn: ({ signal }) => api.listTenants({ tenantId: value ?? '' }, signal),
    enabled: !!value,
  });
  const below = useQuery({
    queryKey: ['tenant-tree', beneath, 'all'],
    queryFn: ({ signal }) => api.readTenantTree({ rootId: beneath ?? '' }, signal),
    enabled: !!beneath,
    // A branch too large to know beforehand: then the service refuses after the choice.
    retry: false,
  });
  const closed = new Set(below.data ? codesOf(below.data.data) : []);
  const found = [...(data?.data.rows ?? [])];
  const now = chosen.data?.data.rows[0];
  if (now && !keyword && !found.some(({ tenantId }) => tenantId === now.tenantId)) found.unshift(now);
  const options = found.map(({ tenantId, tenantName }) => ({
    value: tenantId,
    label: `${tenantName ?? ''} ${tenantId}${closed.has(tenantId) ? ` · ${t.isBelow}` : ''}`.trim(),
    disabled: closed.has(tenantId),
  }));
  return (
    <Select
      {...(id ? { id } : {})}
      value={value ?? null}
      onChange={(code: string) => onChange?.(code)}
      showSearch={{ filterOption: false, onSearch: setKeyword }}
      loading={isFetching}
      options={options}
      notFoundContent={error ? wordsFor(error) : isFetching ? t.searching : t.nothingFound}
      labelRender={({ label, value: code }) =>
        label ?? (now ? `${now.tenantName ?? ''} ${now.tenantId}`.trim() : String(code))
      }
    />
  );
}

const codesOf = (node: TenantNode): string[] => [node.tenantId, ...node.children.flatMap(codesOf)];
