import { Alert, Button } from 'antd';
import type { Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { departmentsTexts } from './texts.ts';

export interface Obstacle {
  reason: 'DEPT_HAS_CHILDREN' | 'DEPT_HAS_USERS';
  /** The service's own words. */
  message: string;
  ids: ReadonlySet<number>;
}

interface Props {
  depts: Dept[];
  obstacle: Obstacle;
  busy: boolean;
  cancel: () => void;
  show: (id: number) => void;
  movePeople: (dept: Dept) => void;
  removeOthers: (depts: Dept[]) => void;
}

/** Of several some cannot go: which, why, what to do with each, and the others without them. */
export function Blocked({ depts, obstacle, busy, cancel, show, movePeople, removeOthers }: Props) {
  const t = useTexts(departmentsTexts);
  const blocked = depts.filter(({ deptId }) => obstacle.ids.has(deptId));
  const others = depts.filter(({ deptId }) => !obstacle.ids.has(deptId));
  return (
    <>
      <Alert
        type="warning"
        showIcon
        className="gap-below"
        title={obstacle.message}
        description={t.someCannot(blocked.length)}
      />
      <ul className="rows">
        {blocked.map((dept) => (
          <li key={dept.deptId}>
            <span>{dept.deptName}</span>
            {obstacle.reason === 'DEPT_HAS_USERS' ? (
              <Button type="link" onClick={() => movePeople(dept)}>
                {t.movePeopleOf(dept.deptName)}
              </Button>
            ) : (
              <Button type="link" onClick={() => show(dept.deptId)}>
                {t.showChildrenOf(dept.deptName)}
              </Button>
            )}
          </li>
        ))}
      </ul>
      <div className="actions">
        <Button onClick={cancel} disabled={busy}>
          {t.cancel}
        </Button>
        {others.length > 0 && (
          <Button danger type="primary" loading={busy} onClick={() => removeOthers(others)}>
            {t.removeOthers(others.length)}
          </Button>
        )}
      </div>
    </>
  );
}
