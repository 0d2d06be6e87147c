import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Tenant } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import type { Versioned } from '../request.ts';
import { useConflictDialog } from './conflict-dialog.tsx';
import { formQuery } from './form-query.ts';
import { uiTexts } from './texts.ts';
import { useApiMutation } from './use-api-mutation.ts';
import { useNotify } from './use-notify.ts';

type Field = 'endTime' | 'accountCount';

interface Options<F extends Field> {
  id: string;
  field: F;
  label: string;
  format: (value: Tenant[F]) => string;
  successMessage: (value: Tenant[F]) => string;
  /** Fills the form with the other user's version. */
  showTheirs: (theirs: Tenant) => void;
  onClose: () => void;
}

/** Reads a tenant for a dialog and changes one field of it. */
export function usePatchTenant<F extends Field>(options: Options<F>) {
  const { id, field, label, format, successMessage, showTheirs, onClose } = options;
  const { nothingChanged } = useTexts(uiTexts);
  const notify = useNotify();
  const saveOrResolve = useConflictDialog();
  const [theirs, setTheirs] = useState<Versioned<Tenant>>();
  const query = useQuery({
    queryKey: queryKeys.tenants.editForm(id),
    queryFn: ({ signal }) => api.readTenant(id, signal),
    ...formQuery,
  });
  const original = theirs ?? query.data;
  const patch = (value: Tenant[F], ifMatch: string) => api.patchTenant(id, { [field]: value }, ifMatch);
  const { mutate, isPending } = useApiMutation({
    mutationFn: async (value: Tenant[F]) => {
      if (!original) return 'cancelled';
      return saveOrResolve<Tenant>({
        etag: original.etag,
        save: async (ifMatch) => {
          try {
            await patch(value, ifMatch);
          } catch (error) {
            if (!isApiError(error, 'CHANGED_MEANWHILE')) throw error;
            // The patch keeps changes of other fields. Ask the user only if this field has changed.
            const current = await api.readTenant(id);
            if (current.data[field] !== original.data[field]) throw error;
            await patch(value, current.etag);
          }
        },
        read: () => api.readTenant(id),
        showTheirs: (current) => {
          setTheirs(current);
          showTheirs(current.data);
        },
        getConflicts: (data) => [{ field: label, theirs: format(data[field]), mine: format(value) }],
      });
    },
    invalidates: affectedBy.tenants,
    successMessage: (outcome, value) => (outcome === 'saved' ? successMessage(value) : undefined),
    onSuccess: (outcome) => {
      if (outcome === 'saved') onClose();
    },
  });
  const save = (value: Tenant[F]) => {
    if (value !== original?.data[field]) return mutate(value);
    notify.success(nothingChanged);
    onClose();
  };
  return { original: original?.data, error: query.error, refetch: query.refetch, save, isPending };
}
