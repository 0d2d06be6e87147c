import { Button } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { type BlockedDeletion, DeleteBlocked } from './delete-blocked.tsx';
import { DeleteWithChildren } from './delete-with-children.tsx';
import { DeleteWithUsers, type UsersOption } from './delete-with-users.tsx';
import { departmentsTexts } from './texts.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  depts: Dept[];
  onDeleted: (depts: Dept[]) => void;
  onShowChildren: (id: number) => void;
}

/** The steps of the dialog. If the delete fails, its error selects the step in which the user can resolve it. */
type Step =
  | { kind: 'confirm' }
  | { kind: 'children' }
  | { kind: 'users'; subtree: boolean }
  | { kind: 'blocked'; error: BlockedDeletion };

const MAX_NAMES = 10;

export function DeleteDialog({ depts: initialDepts, onDeleted, onShowChildren, open, onClose, onClosed }: Props) {
  const t = useTexts(departmentsTexts);
  const [depts, setDepts] = useState(initialDepts);
  const [step, setStep] = useState<Step>({ kind: 'confirm' });
  const singleDept = depts.length === 1 ? depts[0] : undefined;
  const deletion = useApiMutation({
    mutationFn: ({ depts, subtree, option }: { depts: Dept[]; subtree: boolean; option?: UsersOption }) =>
      api.deleteDepartments(
        depts.map(({ deptId }) => deptId),
        { ...(subtree ? { subtree } : {}), ...option },
      ),
    successMessage: (_, { depts, subtree }) => t.deleted(subtree ? 1 : depts.length),
    // Users too: they may be moved or deleted.
    invalidates: affectedBy.users,
    onSuccess: (_, { depts }) => {
      onClose();
      onDeleted(depts);
    },
    onError: (error, { depts, subtree }) => {
      if (!(error instanceof ApiError)) return false;
      const { reason: code } = error;
      if (code !== 'DEPT_HAS_CHILDREN' && code !== 'DEPT_HAS_USERS') return false;
      // The error is about the departments that were sent, which may be only some of those in the state.
      setDepts(depts);
      if (depts.length > 1) {
        const ids = new Set((error.details.deptIds as number[]).map(Number));
        setStep({ kind: 'blocked', error: { code, message: error.message, ids } });
      } else setStep(code === 'DEPT_HAS_CHILDREN' ? { kind: 'children' } : { kind: 'users', subtree });
      return true;
    },
  });
  // A running delete cannot be cancelled.
  const cancel = () => deletion.isPending || onClose();
  const startDelete = (depts: Dept[], subtree = false, option?: UsersOption) =>
    deletion.mutate({ depts, subtree, ...(option ? { option } : {}) });
  const showChildren = (id: number) => {
    onClose();
    onShowChildren(id);
  };
  const getTitle = () => {
    if (step.kind === 'confirm' || !singleDept)
      return singleDept ? t.deleteTitle(singleDept.deptName) : t.deleteManyTitle(depts.length);
    return t.cannotDelete(singleDept.deptName);
  };
  return (
    <Dialog open={open} title={getTitle()} onCancel={cancel} afterClose={onClosed} footer={null} width={560}>
      {step.kind === 'confirm' && (
        <>
          {singleDept ? <p>{t.deleteHint}</p> : <DepartmentNames depts={depts} />}
          <div className="form-actions">
            <Button onClick={cancel} disabled={deletion.isPending}>
              {t.cancel}
            </Button>
            <Button danger type="primary" loading={deletion.isPending} onClick={() => startDelete(depts)}>
              {t.delete}
            </Button>
          </div>
        </>
      )}
      {step.kind === 'children' && singleDept && (
        <DeleteWithChildren
          dept={singleDept}
          isDeleting={deletion.isPending}
          onCancel={cancel}
          onShowChildren={showChildren}
          onDelete={() => startDelete([singleDept], true)}
        />
      )}
      {step.kind === 'users' && singleDept && (
        <DeleteWithUsers
          dept={singleDept}
          includeDescendants={step.subtree}
          isDeleting={deletion.isPending}
          onCancel={cancel}
          onDelete={(option) => startDelete([singleDept], step.subtree, option)}
        />
      )}
      {step.kind === 'blocked' && (
        <DeleteBlocked
          depts={depts}
          error={step.error}
          isDeleting={deletion.isPending}
          onCancel={cancel}
          onShowChildren={showChildren}
          onDeleteOthers={startDelete}
          onReassignUsers={(dept) => {
            setDepts([dept]);
            setStep({ kind: 'users', subtree: false });
          }}
        />
      )}
    </Dialog>
  );
}

function DepartmentNames({ depts }: { depts: Dept[] }) {
  const t = useTexts(departmentsTexts);
  return (
    <ul>
      {depts.slice(0, MAX_NAMES).map(({ deptId, deptName }) => (
        <li key={deptId}>{deptName}</li>
      ))}
      {depts.length > MAX_NAMES && <li>{t.andMore(depts.length - MAX_NAMES)}</li>}
    </ul>
  );
}
