import { useQuery } from '@tanstack/react-query';
import { Alert, App, Button } from 'antd';
import { type RefObject, useState } from 'react';
import { api, type Child, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { DepartmentPicker } from './department-picker.tsx';
import { reassignUsers } from './reassign-users.ts';
import { departmentsTexts } from './texts.ts';
import type { TreeStore } from './tree-store.ts';
import { UserItem } from './user-list.tsx';

interface Props {
  dept: Dept;
  includeDescendants: boolean;
  isDeleting: boolean;
  /** The controller of the running reassignment, so that the dialog can stop it. */
  reassignment: RefObject<AbortController | undefined>;
  onCancel: () => void;
  /** All users have been moved. */
  onReassigned: () => void;
}

const MAX_USERS = 5;

/** The department has users. They are moved to another department before it is deleted. */
export function DeleteWithUsers({ dept, includeDescendants, isDeleting, reassignment, onCancel, onReassigned }: Props) {
  const t = useTexts(departmentsTexts);
  const { message } = App.useApp();
  const [target, setTarget] = useState<Child>();
  const [progress, setProgress] = useState<{ done: number; total: number }>();
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.users(dept.deptId, { includeDescendants, first: MAX_USERS }),
    queryFn: ({ signal }) =>
      api.listDepartmentUsers(dept.deptId, { below: includeDescendants, pageSize: MAX_USERS }, signal),
    staleTime: 0,
  });
  const move = useApiMutation({
    mutationFn: async (toDeptId: number) => {
      const controller = new AbortController();
      reassignment.current = controller;
      const { signal } = controller;
      const onProgress = (done: number, total: number) => setProgress({ done, total });
      const fromDeptId = dept.deptId;
      const count = await reassignUsers({ fromDeptId, includeDescendants, toDeptId, onProgress, signal });
      return { count, stopped: signal.aborted };
    },
    invalidates: affectedBy.users,
    onSuccess: ({ count, stopped }) => {
      if (stopped) void message.info(t.reassignmentStopped(count));
      else onReassigned();
    },
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const { rows, total } = data.data;
  const isPending = move.isPending || isDeleting;
  const getDisabledReason = (tree: TreeStore, id: number) => {
    const willBeDeleted = includeDescendants ? tree.isWithin(id, dept.deptId) : id === dept.deptId;
    if (willBeDeleted) return t.targetWillBeDeleted;
    return tree.getNode(id)?.status === '1' ? t.targetDisabled : undefined;
  };
  return (
    <>
      <Alert
        type="warning"
        showIcon
        title={includeDescendants ? t.subtreeHasUsers(total) : t.hasUsers(total)}
        className="margin-bottom"
      />
      <ul className="item-list">
        {rows.map((user) => (
          <UserItem key={user.userId} user={user} />
        ))}
        {total > rows.length && <li className="secondary">{t.andMoreUsers(total - rows.length)}</li>}
      </ul>
      <h3 className="departments-subheading">{t.moveUsersTo}</h3>
      <DepartmentPicker
        label={t.moveUsersTo}
        value={target}
        onChange={setTarget}
        initialId={dept.deptId}
        getDisabledReason={getDisabledReason}
      />
      <p role="status" className="secondary">
        {progress && isPending
          ? t.movingUsers(progress.done, progress.total)
          : target
            ? t.selectedParent(target.deptName)
            : t.nothingSelected}
      </p>
      <div className="form-actions">
        <Button onClick={onCancel} disabled={isDeleting}>
          {t.cancel}
        </Button>
        <Button
          danger
          type="primary"
          disabled={!target}
          loading={isPending}
          onClick={() => target && move.mutate(target.deptId)}
        >
          {t.moveAndDelete(total)}
        </Button>
      </div>
    </>
  );
}
