import { useCallback } from 'react';
import { api, type Tenant } from '../api.ts';
import { getTexts } from '../language.ts';
import type { Versioned } from '../request.ts';
import { useConflictDialog } from '../ui/conflict-dialog.tsx';
import { fieldTexts } from './field-texts.ts';
import { compareValues, type TenantValues, toUpdate } from './form-values.ts';

/** Replaces a tenant. If another user has changed it, a dialog asks which version to keep. */
export function useSaveTenant() {
  const saveOrResolve = useConflictDialog();
  return useCallback(
    (id: string, etag: string, values: TenantValues, showTheirs: (theirs: Versioned<Tenant>) => void) =>
      saveOrResolve<Tenant>({
        etag,
        save: (ifMatch) => api.updateTenant(toUpdate(id, values), ifMatch),
        read: () => api.readTenant(id),
        showTheirs,
        getConflicts: async (theirs) => {
          const names = await readNames([theirs.tenantParent, values.tenantParent]);
          return compareValues(theirs, values, { t: getTexts(fieldTexts), names });
        },
      }),
    [saveOrResolve],
  );
}

/** The names of tenants by code. Tenants that cannot be read are missing. */
async function readNames(codes: (string | null)[]): Promise<Map<string, string>> {
  const uniqueCodes = [...new Set(codes)].filter((code) => code !== null);
  // The parents are shown only if they differ.
  if (uniqueCodes.length < 2) return new Map();
  const lists = await Promise.allSettled(uniqueCodes.map((tenantId) => api.listTenants({ tenantId })));
  const rows = lists.flatMap((list) => (list.status === 'fulfilled' ? list.value.data.rows : []));
  return new Map(rows.map(({ tenantId, tenantName }) => [tenantId, tenantName ?? '']));
}
