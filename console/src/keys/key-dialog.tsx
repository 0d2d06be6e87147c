import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { formQuery } from '../ui/form-query.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { useFormDialog } from '../ui/use-form-dialog.ts';
import { useLastValue } from '../ui/use-last-value.ts';
import { type CreatedKey, KeyForm } from './key-form.tsx';
import { NewKey } from './new-key.tsx';
import { keyFormTexts } from './texts.ts';

interface Props {
  /** Null while the dialog is closed. */
  apiKey: 'new' | number | null;
  onClose: () => void;
}

/** Creates or edits a key. After one was created, it shows the key, which cannot be read again. */
export function KeyDialog({ apiKey, onClose }: Props) {
  const t = useTexts(keyFormTexts);
  const lastKey = useLastValue(apiKey);
  const id = typeof lastKey === 'number' ? lastKey : null;
  const [created, setCreated] = useState<CreatedKey>();
  const { handle, cancel } = useFormDialog(onClose);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.forms.key(id),
    queryFn: ({ signal }) => api.readKey(id as number, signal),
    enabled: apiKey !== null && id !== null,
    ...formQuery,
  });
  const title = created
    ? t.keyTitle(created.name)
    : id === null
      ? t.createTitle
      : data
        ? t.editTitle(data.data.keyName)
        : t.edit;
  return (
    <Dialog
      open={apiKey !== null}
      title={title}
      width={680}
      footer={null}
      mask={{ closable: false }}
      // An accidental Escape must not discard a key that cannot be shown again.
      keyboard={!created}
      onCancel={cancel}
      afterClose={() => setCreated(undefined)}
      destroyOnHidden
    >
      {created ? (
        <NewKey value={created.key} onClose={onClose} />
      ) : error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : id !== null && !data ? (
        <Loading />
      ) : (
        <KeyForm
          key={id ?? 'new'}
          original={id === null ? undefined : data}
          handle={handle}
          onCancel={cancel}
          onSaved={(newKey) => (newKey ? setCreated(newKey) : onClose())}
        />
      )}
    </Dialog>
  );
}
