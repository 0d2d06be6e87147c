import { api, type User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { queryKeys } from '../../query-keys.ts';
import { DeletedRecord } from '../deleted-record.tsx';
import { LeaveGuard } from '../leave-guard.tsx';
import { RecordDialog } from '../record-dialog.tsx';
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

/** Creates or edits a user. After creating a user, it shows their password, which cannot be read again. */
export function UserDialog({ person, tenantId, deptId, onSaved, onClose }: Props) {
  const t = useTexts(formTexts);
  const actionTexts = useTexts(bulkActionTexts);
  return (
    <RecordDialog<User, Credentials>
      record={person}
      queryKey={(id) => queryKeys.users.detail(id, tenantId, 'form')}
      read={(id, signal) => api.readUser(id, { tenantId }, signal)}
      titles={{
        create: t.createTitle,
        edit: t.edit,
        editOf: (user) => t.editTitle(getDisplayName(user)),
        createdOf: ({ userName }) => actionTexts.credentialsOf(userName),
      }}
      createdWidth={480}
      form={({ key, ...props }) => (
        <UserForm
          key={key}
          {...props}
          tenantId={tenantId}
          deptId={deptId}
          onSaved={(credentials) => {
            onSaved?.();
            props.onSaved(credentials);
          }}
        />
      )}
      created={(credentials) => (
        <>
          <LeaveGuard title={actionTexts.leavePasswords} hint={actionTexts.leavePasswordsHint} />
          <NewCredentials credentials={[credentials]} onClose={onClose} />
        </>
      )}
      error={(id, error, onRetry) => (
        <DeletedRecord resource="user" id={id} tenantId={tenantId} error={error} onRetry={onRetry} />
      )}
      onClose={onClose}
    />
  );
}
