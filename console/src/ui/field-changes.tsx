import type { AuditEntry } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { fieldTexts } from '../tenants/field-texts.ts';
import { useDepartmentNames } from './department-select.tsx';
import { recordTexts, useFieldLabels } from './field-labels.ts';
import { permissionTexts } from './permission-texts.ts';
import { useQuotaName } from './quota-texts.ts';
import { diffRecords, type FieldChange } from './record-diff.ts';
import { usageTexts } from './usage-texts.ts';
import { useKindLabel } from './use-kind-label.ts';
import { formTexts } from './user/texts.ts';

interface Props {
  /** The fields of a record before and after a change; null if there was no record. */
  change: Pick<AuditEntry, 'resource'> & Record<'before' | 'after', object | null>;
  /** The record belongs to another tenant, whose department names the console does not read. */
  otherTenant?: boolean;
}

const DEPARTMENT_FIELDS = ['parentId', 'deptId', 'deptIds'];

/** The changed fields with their old and new values. A created or deleted record is shown with all of its values. */
export function FieldChanges({ change: { resource, before, after }, otherTenant = false }: Props) {
  const t = useTexts(recordTexts);
  const labels = useFieldLabels(resource);
  const rows = diffRecords(labels, before, after);
  const formatValue = useValueFormatter(rows, otherTenant);
  if (rows.length === 0) return <p className="secondary">{before && after ? t.onlyMetadata : t.noChanges}</p>;
  return (
    <table className="comparison-table change-fields">
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
            <th scope="row">{labels[field]}</th>
            {before && <td>{formatValue(field, row.before)}</td>}
            {after && <td>{formatValue(field, row.after)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MAX_INLINE = 3;

/** The changed fields in one line each: the label, the old value and the new one. Only of records that were there before. */
export function InlineFieldChanges({ change: { resource, before, after }, otherTenant = false }: Props) {
  const t = useTexts(recordTexts);
  const labels = useFieldLabels(resource);
  const rows = before && after ? diffRecords(labels, before, after) : [];
  const shown = rows.slice(0, MAX_INLINE);
  const formatValue = useValueFormatter(shown, otherTenant);
  if (rows.length === 0) return null;
  return (
    <div className="inline-changes">
      {shown.map(({ field, ...row }) => (
        <div key={field}>
          <span className="secondary">{labels[field]}</span> <del>{formatValue(field, row.before)}</del>
          <span aria-hidden> → </span>
          <ins>{formatValue(field, row.after)}</ins>
        </div>
      ))}
      {rows.length > shown.length && <div className="secondary">{t.moreFields(rows.length - shown.length)}</div>}
    </div>
  );
}

function useValueFormatter(rows: FieldChange[], otherTenant: boolean): (field: string, value: unknown) => string {
  const t = useTexts(recordTexts);
  const formatList = useListFormat();
  const u = useTexts(formTexts);
  const f = useTexts(fieldTexts);
  const permissions = useTexts(permissionTexts) as Record<string, string>;
  const kindLabel = useKindLabel();
  const periods = useTexts(usageTexts);
  const nameOfQuota = useQuotaName();
  const ids = rows.flatMap(({ field, before, after }) =>
    DEPARTMENT_FIELDS.includes(field) ? [before, after].flat() : [],
  );
  const names = useDepartmentNames(otherTenant ? [] : ids.map(Number).filter((id) => id > 0));
  const formatOne = (field: string, value: unknown): string => {
    if (value === null || value === undefined || value === '') return t.none;
    if (field === 'status') return value === '1' ? u.disabled : u.normal;
    if (field === 'roles') return value === 'admin' ? u.admin : u.member;
    if (field === 'quota') return nameOfQuota(String(value));
    if (field === 'period') return periods[String(value) as 'none'] ?? String(value);
    if (field === 'total' && Number(value) === -1) return periods.noLimit;
    if (field === 'kinds') return kindLabel(String(value));
    if (field === 'permissions') return permissions[String(value)] ?? String(value);
    if (typeof value === 'boolean') return value ? t.yes : t.no;
    if (field === 'parentId' && Number(value) === 0) return t.top;
    if (DEPARTMENT_FIELDS.includes(field)) return names.get(Number(value)) ?? `#${value}`;
    if (field === 'accountCount' && Number(value) === -1) return f.unlimited;
    return String(value);
  };
  return (field, value) =>
    Array.isArray(value) && value.length > 0
      ? formatList(value.map((item) => formatOne(field, item)))
      : formatOne(field, Array.isArray(value) ? null : value);
}
