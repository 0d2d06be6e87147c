import { type QueryKey, useQuery, useQueryClient } from '@tanstack/react-query';
import { type ReactNode, type RefObject, useState } from 'react';
import type { Versioned } from '../request.ts';
import { Dialog, FocusFirstField } from './dialog.tsx';
import { formQuery } from './form-query.ts';
import { LoadError, Loading } from './states.tsx';
import { type FormHandle, useFormDialog } from './use-form-dialog.ts';
import { useLastValue } from './use-last-value.ts';

/** What the form of the dialog needs. `onSaved` gets what was created, if it has to be shown. */
export interface RecordFormProps<Row, Created> {
  /** Undefined for a new record. */
  original: Versioned<Row> | undefined;
  handle: RefObject<FormHandle | undefined>;
  onCancel: () => void;
  onSaved: (created?: Created) => void;
}

interface Props<Row, Created> {
  /** The id of the record to edit. Null while the dialog is closed. */
  record: 'new' | number | null;
  queryKey: (id: number | null) => QueryKey;
  read: (id: number, signal: AbortSignal) => Promise<Versioned<Row>>;
  titles: { create: string; edit: string; editOf: (row: Row) => string; createdOf: (created: Created) => string };
  width?: number;
  createdWidth?: number;
  form: (props: RecordFormProps<Row, Created> & { key: string | number }) => ReactNode;
  /** Shows the secret of a new record, which cannot be read again. */
  created: (created: Created) => ReactNode;
  error?: (id: number, error: unknown, onRetry: () => void) => ReactNode;
  onClose: () => void;
}

/** Creates or edits a record. After creating one with a secret, it shows the secret. */
export function RecordDialog<Row, Created>({
  record,
  queryKey,
  read,
  titles,
  width = 680,
  createdWidth = width,
  form,
  created: showCreated,
  error: showError = (_, error, onRetry) => <LoadError error={error} onRetry={onRetry} />,
  onClose,
}: Props<Row, Created>) {
  const lastRecord = useLastValue(record);
  const id = typeof lastRecord === 'number' ? lastRecord : null;
  const [created, setCreated] = useState<Created>();
  const queryClient = useQueryClient();
  const { handle, cancel } = useFormDialog(onClose);
  const { data, error, refetch } = useQuery({
    queryKey: queryKey(id),
    queryFn: ({ signal }) => read(id as number, signal),
    enabled: record !== null && id !== null,
    ...formQuery,
  });
  const getTitle = () => {
    if (created) return titles.createdOf(created);
    if (id === null) return titles.create;
    return data ? titles.editOf(data.data) : titles.edit;
  };
  const getContent = () => {
    if (created) return showCreated(created);
    if (id !== null && error)
      return (
        <>
          {showError(id, error, refetch)}
          <FocusFirstField />
        </>
      );
    if (id !== null && !data) return <Loading />;
    return form({
      key: id ?? 'new',
      original: id === null ? undefined : data,
      handle,
      onCancel: cancel,
      onSaved: (result) => (result ? setCreated(result) : onClose()),
    });
  };
  return (
    <Dialog
      open={record !== null}
      title={getTitle()}
      width={created ? createdWidth : width}
      footer={null}
      mask={{ closable: false }}
      // An accidental Escape must not discard a secret that cannot be shown again.
      keyboard={!created}
      onCancel={cancel}
      afterClose={() => {
        setCreated(undefined);
        // The dialog stays mounted, and the record may have been saved: the next form reads it again.
        queryClient.removeQueries({ queryKey: queryKey(id), exact: true });
      }}
      destroyOnHidden
    >
      {getContent()}
    </Dialog>
  );
}
