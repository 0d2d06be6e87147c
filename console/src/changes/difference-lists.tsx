import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import { Link } from 'react-router';
import type { Diff } from '../api.ts';
import { useTexts } from '../language.ts';
import { Differences } from '../ui/differences.tsx';
import { Panel } from '../ui/panel.tsx';
import { differenceTexts } from './texts.ts';

const AT_ONCE = 100;

interface Listed<T> {
  title: (count: number) => string;
  rows: readonly T[];
  row: (one: T) => ReactNode;
}

/** Up to 10,000 of them: a hundred at first, and then as many as somebody asks for. */
function Listing<T extends { deptId: number }>({ title, rows, row }: Listed<T>) {
  const t = useTexts(differenceTexts);
  const [shown, setShown] = useState(AT_ONCE);
  if (rows.length === 0) return null;
  const left = rows.length - shown;
  return (
    <Panel title={title(rows.length)}>
      <ul className="rows">
        {rows.slice(0, shown).map((one) => (
          <li key={one.deptId} className="changes-one">
            {row(one)}
          </li>
        ))}
      </ul>
      {left > 0 && (
        <Button type="link" onClick={() => setShown(shown + AT_ONCE)}>
          {t.more(Math.min(left, AT_ONCE))}
        </Button>
      )}
    </Panel>
  );
}

function Name({ deptId, name, gone = false }: { deptId: number; name: string; gone?: boolean }) {
  const t = useTexts(differenceTexts);
  const to = gone ? `/changes?resource=department&resourceId=${deptId}` : `/departments/${deptId}`;
  return <Link to={to}>{name || t.unnamed(deptId)}</Link>;
}

function Place({ path }: { path: string[] }) {
  const t = useTexts(differenceTexts);
  return <span>{path.join(' / ') || t.top}</span>;
}

export function Created({ rows }: { rows: Diff['created'] }) {
  const t = useTexts(differenceTexts);
  return (
    <Listing
      title={t.created}
      rows={rows}
      row={({ deptId, deptName, path }) => (
        <>
          <Name deptId={deptId} name={deptName} />
          <div className="quiet">
            <Place path={path} />
          </div>
        </>
      )}
    />
  );
}

export function Deleted({ rows }: { rows: Diff['deleted'] }) {
  const t = useTexts(differenceTexts);
  return (
    <Listing
      title={t.deleted}
      rows={rows}
      row={({ deptId, deptName, path }) => (
        <>
          <Name deptId={deptId} name={deptName} gone />
          <div className="quiet">
            <Place path={path} />
          </div>
        </>
      )}
    />
  );
}

export function Moved({ rows }: { rows: Diff['moved'] }) {
  const t = useTexts(differenceTexts);
  return (
    <Listing
      title={t.moved}
      rows={rows}
      row={({ deptId, deptName, fromPath, toPath }) => (
        <>
          <Name deptId={deptId} name={deptName} />
          <div className="changes-place">
            <span className="quiet">{t.from}</span>
            <Place path={fromPath} />
            <span className="quiet">{t.movedTo}</span>
            <Place path={toPath} />
          </div>
        </>
      )}
    />
  );
}

export function Renamed({ rows }: { rows: Diff['renamed'] }) {
  const t = useTexts(differenceTexts);
  return (
    <Listing
      title={t.renamed}
      rows={rows}
      row={({ deptId, from, to }) => (
        <div className="changes-place">
          <del className="quiet">{from || t.unnamed(deptId)}</del>
          <span className="quiet">{t.into}</span>
          <Name deptId={deptId} name={to} />
        </div>
      )}
    />
  );
}

export function Changed({ rows }: { rows: Diff['changed'] }) {
  const t = useTexts(differenceTexts);
  return (
    <Listing
      title={t.changed}
      rows={rows}
      row={({ deptId, deptName, fields }) => (
        <>
          <Name deptId={deptId} name={deptName} />
          <Differences
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
