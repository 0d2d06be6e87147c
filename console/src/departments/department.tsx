import { ArrowLeftOutlined, DeleteOutlined, DragOutlined, EditOutlined, PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Tabs, Tag, Tooltip } from 'antd';
import { Link, useSearchParams } from 'react-router';
import { api, type Dept } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { Failed, Loading } from '../ui/states.tsx';
import { ChildList } from './children.tsx';
import { EditForm } from './edit.tsx';
import { Gone } from './gone.tsx';
import { History } from './history.tsx';
import { PeopleList } from './people.tsx';
import { departmentsTexts } from './texts.ts';
import { readingDepartment, type TreeStore } from './tree-store.ts';

export interface Doing {
  create: (below: Dept) => void;
  move: (dept: Dept) => void;
  remove: (depts: Dept[]) => void;
}

interface Props extends Doing {
  id: number;
  tree: TreeStore;
  /** What it was when editing began; undefined while it is only looked at. */
  editing: Tagged<Dept> | undefined;
  edit: (from: Tagged<Dept> | undefined) => void;
  saved: (dept: Dept) => void;
}

export function Department({ id, tree, editing, edit, saved, ...doing }: Props) {
  const t = useTexts(departmentsTexts);
  const administrator = useIsAdministrator();
  const { data: read, error, refetch } = useQuery(readingDepartment(id));
  if (error)
    return (
      <>
        <Back />
        {isRefusal(error, 'DEPT_NOT_FOUND') ? (
          <Gone id={id} tree={tree} why={error} />
        ) : (
          <Failed error={error} retry={refetch} />
        )}
      </>
    );
  if (!read) return <Loading />;
  const dept = read.data;
  const name = dept.deptName || t.unnamed(dept.deptId);
  return (
    <article aria-label={name}>
      <Back />
      <Path dept={dept} name={name} />
      <div className="departments-head">
        <h2>
          {name} {dept.status === '1' && <Tag>{t.disabled}</Tag>}
        </h2>
        {administrator && !editing && <Actions read={read} edit={edit} {...doing} />}
      </div>
      {editing && administrator ? (
        <EditForm key={id} from={editing} close={() => edit(undefined)} saved={saved} />
      ) : (
        <Facts dept={dept} />
      )}
      <Sections dept={dept} />
    </article>
  );
}

function Back() {
  const t = useTexts(departmentsTexts);
  return (
    <Link to="/departments" className="departments-back">
      <ArrowLeftOutlined aria-hidden /> {t.back}
    </Link>
  );
}

function Actions({ read, edit, create, move, remove }: { read: Tagged<Dept> } & Pick<Props, 'edit'> & Doing) {
  const t = useTexts(departmentsTexts);
  const disabled = read.data.status === '1';
  return (
    <div className="page-actions">
      <Tooltip title={disabled ? t.createDisabled : undefined}>
        <Button type="primary" icon={<PlusOutlined />} disabled={disabled} onClick={() => create(read.data)}>
          {t.createBelow}
        </Button>
      </Tooltip>
      <Button id="departments-edit" icon={<EditOutlined />} onClick={() => edit(read)}>
        {t.edit}
      </Button>
      <Button icon={<DragOutlined />} onClick={() => move(read.data)}>
        {t.move}
      </Button>
      <Button danger icon={<DeleteOutlined />} onClick={() => remove([read.data])}>
        {t.remove}
      </Button>
    </div>
  );
}

const FIRST = 1;
const LAST = 4;

/** From the top down. Of a very long way the middle is left out. */
function Path({ dept, name }: { dept: Dept; name: string }) {
  const t = useTexts(departmentsTexts);
  const ids = dept.ancestors.split(',').map(Number).filter(Boolean);
  const shown = ids.length > FIRST + LAST + 1 ? [...ids.slice(0, FIRST), ...ids.slice(-LAST)] : ids;
  const { data } = useQuery({
    queryKey: ['dept-path', shown],
    queryFn: ({ signal }) => api.readDepartments(shown, signal),
    enabled: shown.length > 0,
  });
  const names = new Map(data?.data.rows.map(({ deptId, deptName }) => [deptId, deptName || t.unnamed(deptId)]));
  return (
    <nav aria-label={t.path} className="departments-path">
      <ol>
        {shown.map((id, index) => (
          <li key={id}>
            <Link to={`/departments/${id}`}>{names.get(id) ?? '…'}</Link>
            {index === FIRST - 1 && shown.length < ids.length && (
              <span className="quiet"> / {t.hiddenAbove(ids.length - shown.length)}</span>
            )}
          </li>
        ))}
        <li aria-current="page">{name}</li>
      </ol>
    </nav>
  );
}

function Facts({ dept }: { dept: Dept }) {
  const t = useTexts(departmentsTexts);
  const facts: [string, string | null][] = [
    [t.leader, dept.leader],
    [t.phone, dept.phone],
    [t.email, dept.email],
    [t.status, dept.status === '1' ? t.disabled : t.normal],
    [t.order, String(dept.orderNum)],
    [t.id, String(dept.deptId)],
    [t.changedAt, t.changedLine(dept.updateBy || dept.createBy, dept.updateTime ?? dept.createTime)],
  ];
  return (
    <dl className="departments-facts">
      {facts.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value || t.empty}</dd>
        </div>
      ))}
    </dl>
  );
}

/** Which of them is open is in the address. Who is where, and who did what, only administrators may know. */
function Sections({ dept }: { dept: Dept }) {
  const t = useTexts(departmentsTexts);
  const administrator = useIsAdministrator();
  const [search, setSearch] = useSearchParams();
  const children = { key: 'children', label: t.children, children: <ChildList id={dept.deptId} /> };
  const people = { key: 'people', label: t.people, children: <PeopleList id={dept.deptId} /> };
  const history = { key: 'history', label: t.history, children: <History id={dept.deptId} /> };
  const items = administrator ? [people, children, history] : [children];
  const wanted = search.get('tab');
  return (
    <Tabs
      items={items}
      activeKey={items.some(({ key }) => key === wanted) ? (wanted as string) : (items[0]?.key ?? '')}
      onChange={(tab) => setSearch({ tab }, { replace: true })}
      destroyOnHidden
    />
  );
}
