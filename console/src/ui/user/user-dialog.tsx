import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { queryKeys } from '../../query-keys.ts';
import { DeletedRecord } from '../deleted-record.tsx';
import { Dialog } from '../dialog.tsx';
import { formQuery } from '../form-query.ts';
import { LeaveGuard } from '../leave-guard.tsx';
import { Loading } from '../states.tsx';
import { useFormDialog } from '../use-form-dialog.ts';
import { useLastValue } from '../use-last-value.ts';
import { type Credentials, NewCredentials } from './new-credentials.tsx';
import { bulkActionTexts, formTexts } from './texts.ts';
import { getDisplayName } from './update-user.ts';
import { UserForm } from './user-form.tsx';

interface Props {
  /** Null while the dialog is closed. */
  person: 'new' | number | null;
  /** Undefined for the current tenant. */
  tenantId: string | undefined;
  /** The main department of a new user. */
  deptId?: number;
  onSaved?: () => void;
  onClose: () => void;
}

/** Creates or edits a user. After a user was created, it shows their password, which cannot be read again. */
export function UserDialog({ person, tenantId, deptId, onSaved, onClose }: Props) {
  const t = useTexts(formTexts);
  const actionTexts = useTexts(bulkActionTexts);
  const lastPerson = useLastValue(person);
  const id = typeof lastPerson === 'number' ? lastPerson : null;
  const [credentials, setCredentials] = useState<Credentials>();
  const { handle, cancel } = useFormDialog(onClose);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.users.detail(id, tenantId, 'form'),
    queryFn: ({ signal }) => api.readUser(id as number, { tenantId }, signal),
    enabled: person !== null && id !== null,
    ...formQuery,
  });
  const title = credentials
    ? actionTexts.credentialsOf(credentials.userName)
    : id === null
      ? t.createTitle
      : data
        ? t.editTitle(getDisplayName(data.data))
        : t.edit;
  return (
    <Dialog
      open={person !== null}
      title={title}
      width={credentials ? 480 : 680}
      footer={null}
      mask={{ closable: false }}
      // An accidental Escape must not discard a password that cannot be shown again.
      keyboard={!credentials}
      onCancel={cancel}
      afterClose={() => setCredentials(undefined)}
      destroyOnHidden
    >
      {credentials ? (
        <>
          <LeaveGuard title={actionTexts.leavePasswords} hint={actionTexts.leavePasswordsHint} />
          <NewCredentials credentials={[credentials]} onClose={onClose} />
        </>
      ) : error ? (
        <DeletedRecord resource="user" id={id ?? 0} tenantId={tenantId} error={error} onRetry={refetch} />
      ) : id !== null && !data ? (
        <Loading />
      ) : (
        <UserForm
          key={id ?? 'new'}
          original={id === null ? undefined : data}
          tenantId={tenantId}
          deptId={deptId}
          handle={handle}
          onCancel={cancel}
          onSaved={(newCredentials) => {
            onSaved?.();
            if (newCredentials) setCredentials(newCredentials);
            else onClose();
          }}
        />
      )}
    </Dialog>
  );
}
