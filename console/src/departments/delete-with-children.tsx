import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Checkbox } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  dept: Dept;
  isDeleting: boolean;
  onCancel: () => void;
  onShowChildren: (id: number) => void;
  onDelete: () => void;
}

const MAX_NAMES = 3;

/** The department has children. The user can view them, or confirm that the whole subtree is deleted. */
export function DeleteWithChildren({ dept, isDeleting, onCancel, onShowChildren, onDelete }: Props) {
  const t = useTexts(departmentsTexts);
  const formatList = useListFormat();
  const [confirmed, setConfirmed] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.departments.list({ subtreeOf: dept.deptId }),
    queryFn: async ({ signal }) => {
      const { data: subtree } = await api.listDepartments({ underId: String(dept.deptId), pageSize: 1 }, signal);
      const { data: children } = await api.listChildren(dept.deptId, { limit: MAX_NAMES + 1 }, signal);
      return { total: 'total' in subtree ? subtree.total : subtree.rows.length, children: children.rows };
    },
    staleTime: 0,
  });
  if (error) return <LoadError error={error} onRetry={refetch} />;
  if (!data) return <Loading />;
  const names = data.children.slice(0, MAX_NAMES).map(({ deptName }) => deptName);
  const childNames = `${formatList(names)}${data.children.length > MAX_NAMES ? '…' : ''}`;
  return (
    <>
      <Alert type="warning" showIcon title={t.hasChildren(childNames, data.total)} className="margin-bottom" />
      <p>{t.hasChildrenHint}</p>
      <p>
        <Checkbox checked={confirmed} onChange={(event) => setConfirmed(event.target.checked)}>
          {t.confirmSubtree(data.total + 1)}
        </Checkbox>
      </p>
      <div className="form-actions">
        <Button onClick={onCancel} disabled={isDeleting}>
          {t.cancel}
        </Button>
        <Button danger disabled={!confirmed} loading={isDeleting} onClick={onDelete}>
          {t.deleteSubtree(data.total + 1)}
        </Button>
        <Button type="primary" autoFocus disabled={isDeleting} onClick={() => onShowChildren(dept.deptId)}>
          {t.showChildren}
        </Button>
      </div>
    </>
  );
}
