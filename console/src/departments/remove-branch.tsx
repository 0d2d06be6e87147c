import { useQuery } from '@tanstack/react-query';
import { Alert, Button, Checkbox } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  dept: Dept;
  busy: boolean;
  cancel: () => void;
  show: (id: number) => void;
  remove: () => void;
}

const NAMED = 3;

/** Departments are below: look at them, or delete them all on purpose, knowing how many. */
export function HasChildren({ dept, busy, cancel, show, remove }: Props) {
  const t = useTexts(departmentsTexts);
  const [agreed, setAgreed] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['dept-list', { branch: dept.deptId }],
    queryFn: async ({ signal }) => {
      const { data: all } = await api.listDepartments({ underId: String(dept.deptId), pageSize: 1 }, signal);
      const { data: direct } = await api.listChildren(dept.deptId, { limit: NAMED + 1 }, signal);
      return { total: 'total' in all ? all.total : all.rows.length, direct: direct.rows };
    },
    staleTime: 0,
  });
  if (error) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const names = data.direct.slice(0, NAMED).map(({ deptName }) => deptName);
  const direct = `${names.join('、')}${data.direct.length > NAMED ? '…' : ''}`;
  return (
    <>
      <Alert type="warning" showIcon title={t.hasChildren(direct, data.total)} className="gap-below" />
      <p>{t.hasChildrenHint}</p>
      <p>
        <Checkbox checked={agreed} onChange={(event) => setAgreed(event.target.checked)}>
          {t.agreeBranch(data.total + 1)}
        </Checkbox>
      </p>
      <div className="actions">
        <Button onClick={cancel} disabled={busy}>
          {t.cancel}
        </Button>
        <Button danger disabled={!agreed} loading={busy} onClick={remove}>
          {t.removeBranch(data.total + 1)}
        </Button>
        <Button type="primary" autoFocus disabled={busy} onClick={() => show(dept.deptId)}>
          {t.showChildren}
        </Button>
      </div>
    </>
  );
}
