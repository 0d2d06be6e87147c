import { Alert, Button } from 'antd';
import type { Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { FocusFirstField } from '../ui/dialog.tsx';
import { departmentsTexts } from './texts.ts';

export interface BlockedDeletion {
  code: 'DEPT_HAS_CHILDREN' | 'DEPT_HAS_USERS';
  /** The error message of the service. */
  message: string;
  ids: ReadonlySet<number>;
}

interface Props {
  depts: Dept[];
  error: BlockedDeletion;
  isDeleting: boolean;
  onCancel: () => void;
  onShowChildren: (id: number) => void;
  onReassignUsers: (dept: Dept) => void;
  onDeleteOthers: (depts: Dept[]) => void;
}

/** Some of several departments cannot be deleted. Offers a solution for each, or deletes only the others. */
export function DeleteBlocked({
  depts,
  error,
  isDeleting,
  onCancel,
  onShowChildren,
  onReassignUsers,
  onDeleteOthers,
}: Props) {
  const t = useTexts(departmentsTexts);
  const blocked = depts.filter(({ deptId }) => error.ids.has(deptId));
  const others = depts.filter(({ deptId }) => !error.ids.has(deptId));
  return (
    <>
      <Alert
        type="warning"
        showIcon
        className="margin-bottom"
        title={error.message}
        description={t.someCannotBeDeleted(blocked.length)}
      />
      <ul className="item-list">
        {blocked.map((dept) => (
          <li key={dept.deptId}>
            <span>{dept.deptName}</span>
            {error.code === 'DEPT_HAS_USERS' ? (
              <Button type="link" onClick={() => onReassignUsers(dept)}>
                {t.moveUsersOf(dept.deptName)}
              </Button>
            ) : (
              <Button type="link" onClick={() => onShowChildren(dept.deptId)}>
                {t.showChildrenOf(dept.deptName)}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <FocusFirstField />
      <div className="form-actions">
        <Button onClick={onCancel} disabled={isDeleting}>
          {t.cancel}
        </Button>
        {others.length > 0 && (
          <Button danger type="primary" loading={isDeleting} onClick={() => onDeleteOthers(others)}>
            {t.deleteOthers(others.length)}
          </Button>
        )}
      </div>
    </>
  );
}
