import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { formTexts } from '../people/texts.ts';
import { fieldTexts } from '../tenants/field-texts.ts';
import { useDepartmentNames } from './department-select.tsx';
import { type Differing, differing } from './differing.ts';
import { recordTexts, useRecordWords } from './record-words.ts';

interface Props {
  change: Pick<AuditEntry, 'resource' | 'before' | 'after'>;
  /** Of another tenant: names of its departments are not to be had. */
  foreign?: boolean;
}

const DEPARTMENTS = ['parentId', 'deptId', 'deptIds'];

/** Before and after, only what differs. Of what was made or deleted: what it was. */
export function Differences({ change: { resource, before, after }, foreign = false }: Props) {
  const t = useTexts(recordTexts);
  const words = useRecordWords(resource);
  const rows = differing(words, before, after);
  const show = useShown(rows, foreign);
  if (rows.length === 0) return <p className="quiet">{before && after ? t.onlyStamps : t.noDifference}</p>;
  return (
    <table className="differences change-fields">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          {before && <th scope="col">{after ? t.before : t.value}</th>}
          {after && <th scope="col">{before ? t.after : t.value}</th>}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ field, ...row }) => (
          <tr key={field}>
            <th scope="row">{words[field]}</th>
            {before && <td>{show(field, row.before)}</td>}
            {after && <td>{show(field, row.after)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function useShown(rows: Differing[], foreign: boolean): (field: string, value: unknown) => string {
  const t = useTexts(recordTexts);
  const u = useTexts(formTexts);
  const f = useTexts(fieldTexts);
  const ids = rows.flatMap(({ field, before, after }) => (DEPARTMENTS.includes(field) ? [before, after].flat() : []));
  const names = useDepartmentNames(foreign ? [] : ids.map(Number).filter((id) => id > 0));
  const one = (field: string, value: unknown): string => {
    if (value === null || value === undefined || value === '') return t.none;
    if (field === 'status') return value === '1' ? u.disabled : u.normal;
    if (field === 'roles') return value === 'admin' ? u.admin : u.member;
    if (field === 'parentId' && Number(value) === 0) return t.top;
    if (DEPARTMENTS.includes(field)) return names.get(Number(value)) ?? `#${value}`;
    if (field === 'accountCount' && Number(value) === -1) return f.unlimited;
    return String(value);
  };
  return (field, value) =>
    Array.isArray(value) && value.length > 0
      ? value.map((part) => one(field, part)).join(t.between)
      : one(field, Array.isArray(value) ? null : value);
}
