import { ArrowLeftOutlined, DeleteOutlined, DragOutlined, EditOutlined, PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button, Tabs, Tooltip } from 'antd';
import { Link, useSearchParams } from 'react-router';
import { api, type Dept } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import type { Versioned } from '../request.ts';
import { useIsAdministrator } from '../session.ts';
import { changeTexts } from '../ui/change-texts.ts';
import { departmentQuery, type TreeStore } from '../ui/department/tree-store.ts';
import { DescriptionList } from '../ui/description-list.tsx';
import { PhoneLink } from '../ui/phone-link.tsx';
import { RecordHistory } from '../ui/record-history.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { PersonLink } from '../ui/user/person-link.tsx';
import { ChildList } from './child-list.tsx';
import { DeletedDepartment } from './deleted-department.tsx';
import { EditForm } from './edit-form.tsx';
import { MemberList } from './member-list.tsx';
import { departmentsTexts } from './texts.ts';

interface ActionProps {
  onCreateChild: (parent: Dept) => void;
  onEdit: (original: Versioned<Dept>) => void;
  onMove: (dept: Dept) => void;
  onDelete: (depts: Dept[]) => void;
}

interface Props extends ActionProps {
  id: number;
  tree: TreeStore;
  /** The department as it was when editing started; undefined while it is only viewed. */
  editing: Versioned<Dept> | undefined;
  onEditEnd: () => void;
  onSaved: (dept: Dept) => void;
  /** Called after members were added, changed or removed: the tree shows their number. */
  onMembersChanged: () => void;
}

export function DepartmentDetail({ id, tree, editing, onEditEnd, onSaved, onMembersChanged, ...actions }: Props) {
  const t = useTexts(departmentsTexts);
  const administrator = useIsAdministrator();
  const { data: department, error, refetch } = useQuery(departmentQuery(id));
  if (error)
    return (
      <>
        <BackLink />
        {isApiError(error, 'DEPT_NOT_FOUND') ? (
          <DeletedDepartment id={id} tree={tree} error={error} />
        ) : (
          <LoadError error={error} onRetry={refetch} />
        )}
      </>
    );
  if (!department) return <Loading />;
  const dept = department.data;
  const name = dept.deptName || t.unnamed(dept.deptId);
  return (
    <article aria-label={name}>
      <BackLink />
      <DepartmentPath dept={dept} name={name} />
      <div className="departments-header">
        <h2>
          {name} {dept.status === '1' && <StatusTag>{t.disabled}</StatusTag>}
        </h2>
        {administrator && !editing && <ActionButtons department={department} {...actions} />}
      </div>
      {editing && administrator ? (
        <EditForm key={id} original={editing} onClose={onEditEnd} onSaved={onSaved} />
      ) : (
        <DepartmentInfo dept={dept} />
      )}
      <DetailTabs dept={dept} name={name} onMembersChanged={onMembersChanged} />
    </article>
  );
}

function BackLink() {
  const t = useTexts(departmentsTexts);
  return (
    <Link to="/departments" className="departments-back">
      <ArrowLeftOutlined aria-hidden /> {t.back}
    </Link>
  );
}

function ActionButtons({
  department,
  onCreateChild,
  onEdit,
  onMove,
  onDelete,
}: ActionProps & { department: Versioned<Dept> }) {
  const t = useTexts(departmentsTexts);
  const dept = department.data;
  const disabled = dept.status === '1';
  return (
    <div className="page-actions">
      <Tooltip title={disabled ? t.createChildDisabled : undefined}>
        <Button icon={<PlusOutlined />} disabled={disabled} onClick={() => onCreateChild(dept)}>
          {t.createChild}
        </Button>
      </Tooltip>
      <Button id="departments-edit" icon={<EditOutlined />} onClick={() => onEdit(department)}>
        {t.edit}
      </Button>
      <Button icon={<DragOutlined />} onClick={() => onMove(dept)}>
        {t.move}
      </Button>
      <Button danger icon={<DeleteOutlined />} onClick={() => onDelete([dept])}>
        {t.delete}
      </Button>
    </div>
  );
}

const SHOWN_FIRST = 1;
const SHOWN_LAST = 4;

/** The ancestors from the top down. A long path is shortened in the middle. */
function DepartmentPath({ dept, name }: { dept: Dept; name: string }) {
  const t = useTexts(departmentsTexts);
  const ids = dept.ancestors.split(',').map(Number).filter(Boolean);
  const visibleIds =
    ids.length > SHOWN_FIRST + SHOWN_LAST + 1 ? [...ids.slice(0, SHOWN_FIRST), ...ids.slice(-SHOWN_LAST)] : ids;
  const { data } = useQuery({
    queryKey: queryKeys.departments.batch(visibleIds),
    queryFn: ({ signal }) => api.readDepartments(visibleIds, signal),
    enabled: visibleIds.length > 0,
  });
  const names = new Map(data?.data.rows.map(({ deptId, deptName }) => [deptId, deptName || t.unnamed(deptId)]));
  // The name of a top-level department is already in the heading.
  if (ids.length === 0) return null;
  return (
    <nav aria-label={t.path} className="departments-path">
      <ol>
        {visibleIds.map((id, index) => (
          <li key={id}>
            <Link to={`/departments/${id}`}>{names.get(id) ?? '…'}</Link>
            {index === SHOWN_FIRST - 1 && visibleIds.length < ids.length && (
              <span className="secondary"> / {t.hiddenLevels(ids.length - visibleIds.length)}</span>
            )}
          </li>
        ))}
        <li aria-current="page">{name}</li>
      </ol>
    </nav>
  );
}

/** The facts that people look for, in one line. Empty ones are omitted, and those that only administrators need are collapsed. */
function DepartmentInfo({ dept }: { dept: Dept }) {
  const t = useTexts(departmentsTexts);
  const { leader, leaderId, phone, email, source, externalId } = dept;
  const facts = [
    { label: t.leader, value: leader && leaderId !== null ? <PersonLink id={leaderId}>{leader}</PersonLink> : leader },
    { label: t.phone, value: phone && <PhoneLink phone={phone} /> },
    { label: t.email, value: email && <a href={`mailto:${email}`}>{email}</a> },
    { label: t.source, value: source },
    { label: t.externalId, value: externalId },
  ].filter(({ value }) => value);
  return (
    <div className="departments-info">
      {facts.length > 0 && (
        <dl className="departments-facts">
          {facts.map(({ label, value }) => (
            <div key={label}>
              <dt>{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
      )}
      <details>
        <summary>{t.more}</summary>
        <DescriptionList
          items={[
            { label: t.id, value: dept.deptId },
            { label: t.order, value: dept.orderNum },
            {
              label: t.lastChange,
              value: t.changedBy(dept.updateBy || dept.createBy, dept.updateTime ?? dept.createTime),
            },
          ]}
        />
      </details>
    </div>
  );
}

/** The active tab is in the URL. Members see only the child departments. */
function DetailTabs({ dept, name, onMembersChanged }: { dept: Dept; name: string; onMembersChanged: () => void }) {
  const t = useTexts(departmentsTexts);
  const { history: historyLabel } = useTexts(changeTexts);
  const administrator = useIsAdministrator();
  const [search, setSearch] = useSearchParams();
  const children = { key: 'children', label: t.children, children: <ChildList id={dept.deptId} /> };
  const members = {
    key: 'people',
    label: t.members,
    children: <MemberList key={dept.deptId} dept={dept} name={name} onChanged={onMembersChanged} />,
  };
  const history = {
    key: 'history',
    label: historyLabel,
    children: (
      <section aria-label={historyLabel}>
        <RecordHistory resource="department" id={dept.deptId} />
      </section>
    ),
  };
  const items = administrator ? [members, children, history] : [children];
  const tabParam = search.get('tab');
  return (
    <Tabs
      items={items}
      activeKey={items.some(({ key }) => key === tabParam) ? (tabParam as string) : (items[0]?.key ?? '')}
      onChange={(tab) => setSearch({ tab }, { replace: true })}
      destroyOnHidden
    />
  );
}
