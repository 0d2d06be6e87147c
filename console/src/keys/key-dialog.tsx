import { api, type Key } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { RecordDialog } from '../ui/record-dialog.tsx';
import { type CreatedKey, KeyForm } from './key-form.tsx';
import { NewKey } from './new-key.tsx';
import { keyFormTexts } from './texts.ts';

interface Props {
  /** Null while the dialog is closed. */
  apiKey: 'new' | number | null;
  onClose: () => void;
}

/** Creates or edits a key. After creating one, it shows the key, which cannot be read again. */
export function KeyDialog({ apiKey, onClose }: Props) {
  const t = useTexts(keyFormTexts);
  return (
    <RecordDialog<Key, CreatedKey>
      record={apiKey}
      queryKey={queryKeys.forms.key}
      read={api.readKey}
      titles={{
        create: t.createTitle,
        edit: t.edit,
        editOf: ({ keyName }) => t.editTitle(keyName),
        createdOf: ({ name }) => t.keyTitle(name),
      }}
      form={({ key, ...props }) => <KeyForm key={key} {...props} />}
      created={({ key }) => <NewKey value={key} onClose={onClose} />}
      onClose={onClose}
    />
  );
}
