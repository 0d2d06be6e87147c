import { Button } from 'antd';
import { type ReactNode, useContext, useState } from 'react';
import { Link } from 'react-router';
import type { Diff } from '../api.ts';
import { useTexts } from '../language.ts';
import { Card } from '../ui/card.tsx';
import { FieldChanges } from '../ui/field-changes.tsx';
import { type Operator, useOperator } from '../ui/operator.tsx';
import { OperatorsContext } from './period-changes.ts';
import { diffTexts } from './texts.ts';

const PAGE_SIZE = 100;

interface ListProps<T> {
  title: (count: number) => string;
  rows: readonly T[];
  renderRow: (item: T) => ReactNode;
}

/** A diff can have 10,000 rows, so they are rendered a page at a time. */
function DiffList<T extends { deptId: number }>({ title, rows, renderRow }: ListProps<T>) {
  const t = useTexts(diffTexts);
  const [visibleCount, setVisibleCount] = useState(PAGE_SIZE);
  if (rows.length === 0) return null;
  const remaining = rows.length - visibleCount;
  return (
    <Card title={title(rows.length)}>
      <ul className="item-list">
        {rows.slice(0, visibleCount).map((item) => (
          <li key={item.deptId} className="changes-diff-item">
            {renderRow(item)}
          </li>
        ))}
      </ul>
      {remaining > 0 && (
        <Button type="link" onClick={() => setVisibleCount(visibleCount + PAGE_SIZE)}>
          {t.more(Math.min(remaining, PAGE_SIZE))}
        </Button>
      )}
    </Card>
  );
}

function DepartmentLink({ deptId, name, deleted = false }: { deptId: number; name: string; deleted?: boolean }) {
  const t = useTexts(diffTexts);
  const to = deleted ? `/changes?resource=department&resourceId=${deptId}` : `/departments/${deptId}`;
  return <Link to={to}>{name || t.unnamed(deptId)}</Link>;
}

/** The operator of the last change of a department in the period. */
function By({ deptId }: { deptId: number }) {
  const operator = useContext(OperatorsContext).get(String(deptId));
  return operator ? <OperatorName operator={operator} /> : null;
}

export function OperatorName({ operator }: { operator: Operator }) {
  const t = useTexts(diffTexts);
  const { name, account } = useOperator(operator);
  return (
    <span className="secondary changes-by" title={account}>
      {t.by(name)}
    </span>
  );
}

function DepartmentPath({ path }: { path: string[] }) {
  const t = useTexts(diffTexts);
  return <span>{path.join(' / ') || t.topLevel}</span>;
}

export function Created({ rows }: { rows: Diff['created'] }) {
  const t = useTexts(diffTexts);
  return (
    <DiffList
      title={t.created}
      rows={rows}
      renderRow={({ deptId, deptName, path }) => (
        <>
          <DepartmentLink deptId={deptId} name={deptName} />
          <div className="secondary">
            <DepartmentPath path={path} />
            <By deptId={deptId} />
          </div>
        </>
      )}
    />
  );
}

export function Deleted({ rows }: { rows: Diff['deleted'] }) {
  const t = useTexts(diffTexts);
  return (
    <DiffList
      title={t.deleted}
      rows={rows}
      renderRow={({ deptId, deptName, path }) => (
        <>
          <DepartmentLink deptId={deptId} name={deptName} deleted />
          <div className="secondary">
            <DepartmentPath path={path} />
            <By deptId={deptId} />
          </div>
        </>
      )}
    />
  );
}

export function Moved({ rows }: { rows: Diff['moved'] }) {
  const t = useTexts(diffTexts);
  return (
    <DiffList
      title={t.moved}
      rows={rows}
      renderRow={({ deptId, deptName, fromPath, toPath }) => (
        <>
          <DepartmentLink deptId={deptId} name={deptName} />
          <By deptId={deptId} />
          <div className="changes-move">
            <span className="secondary">{t.movedFrom}</span>
            <DepartmentPath path={fromPath} />
            <span className="secondary">{t.movedTo}</span>
            <DepartmentPath path={toPath} />
          </div>
        </>
      )}
    />
  );
}

export function Renamed({ rows }: { rows: Diff['renamed'] }) {
  const t = useTexts(diffTexts);
  return (
    <DiffList
      title={t.renamed}
      rows={rows}
      renderRow={({ deptId, from, to }) => (
        <div className="changes-move">
          <del className="secondary">{from || t.unnamed(deptId)}</del>
          <span className="secondary">{t.renamedTo}</span>
          <DepartmentLink deptId={deptId} name={to} />
          <By deptId={deptId} />
        </div>
      )}
    />
  );
}

export function Changed({ rows }: { rows: Diff['changed'] }) {
  const t = useTexts(diffTexts);
  return (
    <DiffList
      title={t.changed}
      rows={rows}
      renderRow={({ deptId, deptName, fields }) => (
        <>
          <DepartmentLink deptId={deptId} name={deptName} />
          <By deptId={deptId} />
          <FieldChanges
            change={{
              resource: 'department',
              before: Object.fromEntries(fields.map(({ field, from }) => [field, from])),
              after: Object.fromEntries(fields.map(({ field, to }) => [field, to])),
            }}
          />
        </>
      )}
    />
  );
}
