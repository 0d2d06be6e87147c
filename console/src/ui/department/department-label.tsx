import { useTexts } from '../../language.ts';
import { StatusTag } from '../status-tag.tsx';
import { departmentTexts } from './texts.ts';

/** A selected department. A long path is cut at its start: the nearest ancestors distinguish departments of the same name. */
export function DepartmentLabel({ path }: { path: string[] }) {
  return (
    <span className="department-label" title={path.join(' / ')}>
      {path.length > 1 && <Path names={path.slice(0, -1)} />}
      <span>{path.at(-1)}</span>
    </span>
  );
}

interface OptionProps {
  deptName: string;
  /** From the top down to the parent. */
  pathNames?: string[];
  status: string;
}

/** A result of the search. */
export function DepartmentOption({ deptName, pathNames = [], status }: OptionProps) {
  const t = useTexts(departmentTexts);
  return (
    <span className="department-option">
      <span>
        {deptName} {status === '1' && <StatusTag>{t.disabled}</StatusTag>}
      </span>
      {pathNames.length > 0 ? <Path names={pathNames} /> : <span className="secondary">{t.topLevel}</span>}
    </span>
  );
}

const Path = ({ names }: { names: string[] }) => (
  <span className="secondary department-path">
    <bdi dir="ltr">{names.join(' / ')}</bdi>
  </span>
);
