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
        getConflicts: (theirs) => compareValues(theirs, values, getTexts(fieldTexts)),
      }),
    [saveOrResolve],
  );
}
