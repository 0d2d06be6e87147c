import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Radio } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { DepartmentPicker } from '../ui/department/department-picker.tsx';
import { isWithin } from '../ui/department-path.tsx';
import { FocusFirstField } from '../ui/dialog.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';
import { UserItem } from './user-item.tsx';

/** What happens to the users of a deleted department. */
export type UsersOption = { users: 'move'; toDeptId: number } | { users: 'delete' };

interface Props {
  dept: Dept;
  includeDescendants: boolean;
  isDeleting: boolean;
  onCancel: () => void;
  onDelete: (option: UsersOption) => void;
}

const MAX_USERS = 5;

/** The department has users. They are moved to another department, or deleted with it. */
export function DeleteWithUsers({ dept, includeDescendants, isDeleting, onCancel, onDelete }: Props) {
  const t = useTexts(departmentsTexts);
  const [choice, setChoice] = useState<'move' | 'delete'>('move');
  const [targetId, setTargetId] = useState<number | null>(null);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.users(dept.deptId, { includeDescendants, first: MAX_USERS }),
    queryFn: ({ signal }) =>
      api.listDepartmentUsers(dept.deptId, { below: includeDescendants, pageSize: MAX_USERS }, signal),
    staleTime: 0,
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const { rows, total = 0 } = data.data;
  const getDisabledReason = (target: Dept) => {
    const willBeDeleted = includeDescendants ? isWithin(target, dept.deptId) : target.deptId === dept.deptId;
    if (willBeDeleted) return t.targetWillBeDeleted;
    return target.status === '1' ? t.targetDisabled : undefined;
  };
  const confirm = () => {
    if (choice === 'delete') onDelete({ users: 'delete' });
    else if (targetId !== null) onDelete({ users: 'move', toDeptId: targetId });
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
      <Radio.Group
        aria-label={t.usersChoice}
        className="margin-bottom"
        value={choice}
        onChange={(event) => setChoice(event.target.value)}
        disabled={isDeleting}
        options={[
          { value: 'move', label: t.moveUsersTo },
          { value: 'delete', label: t.deleteUsersToo },
        ]}
      />
      {choice === 'move' ? (
        <DepartmentPicker
          aria-label={t.moveUsersTo}
          className="departments-target"
          value={targetId}
          onChange={setTargetId}
          initialId={dept.deptId}
          getDisabledReason={getDisabledReason}
          disabled={isDeleting}
        />
      ) : (
        <p>{t.deleteUsersHint}</p>
      )}
      <FocusFirstField />
      <p className="secondary">{t.revertHint}</p>
      <div className="form-actions">
        <Button onClick={onCancel} disabled={isDeleting}>
          {t.cancel}
        </Button>
        <Button
          danger
          type="primary"
          disabled={choice === 'move' && targetId === null}
          loading={isDeleting}
          onClick={confirm}
        >
          {choice === 'move' ? t.moveAndDelete(total) : t.deleteWithUsers}
        </Button>
      </div>
    </>
  );
}
