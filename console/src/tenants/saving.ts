import { useCallback } from 'react';
import { api, type Tenant } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { textsNow } from '../language.ts';
import { useConflict } from '../ui/conflict.tsx';
import { fieldTexts } from './field-texts.ts';
import { differencesOf, type TenantValues, updateOf } from './values.ts';

/** Replaces a tenant, or asks when somebody was quicker. */
export function useSaving() {
  const saveOrAsk = useConflict();
  return useCallback(
    (id: string, etag: string, values: TenantValues, show: (theirs: Tagged<Tenant>) => void) =>
      saveOrAsk<Tenant>({
        etag,
        save: (ifMatch) => api.updateTenant(updateOf(id, values), ifMatch),
        read: () => api.readTenant(id),
        show,
        differences: (theirs) => differencesOf(theirs, values, textsNow(fieldTexts)),
      }),
    [saveOrAsk],
  );
}
