import type { AuditEntry } from '../api.ts';
import { useListFormat, useTexts } from '../language.ts';
import { fieldTexts } from '../tenants/field-texts.ts';
import { recordTexts, useFieldLabels } from './field-labels.ts';
import { permissionTexts } from './permission-texts.ts';
import { useQuotaName } from './quota-texts.ts';
import { diffRecords, type FieldChange } from './record-diff.ts';
import { useDepartmentNames, useTenantsByCode, useUserNames } from './record-names.ts';
import { usageTexts } from './usage-texts.ts';
import { useKindLabel } from './use-kind-label.ts';
import { formTexts } from './user/texts.ts';

interface Props {
  /** The fields of a record before and after a change; null if there was no record. */
  change: Pick<AuditEntry, 'resource'> & Record<'before' | 'after', object | null>;
  /** The tenant of the record, if it is not the current one. */
  tenantId?: string | undefined;
}

const DEPARTMENT_FIELDS = ['parentId', 'deptId', 'deptIds'];

/** The changed fields with their old and new values. A created or deleted record is shown with all of its values. */
export function FieldChanges({ change: { resource, before, after }, tenantId }: Props) {
  const t = useTexts(recordTexts);
  const labels = useFieldLabels(resource);
  const rows = useFormattedRows(diffRecords(labels, before, after), tenantId);
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
            {before && <td>{row.before}</td>}
            {after && <td>{row.after}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

const MAX_INLINE = 3;

/** The changed fields in one line each: the label, the old value and the new one. Nothing for created or deleted records. */
export function InlineFieldChanges({ change: { resource, before, after }, tenantId }: Props) {
  const t = useTexts(recordTexts);
  const labels = useFieldLabels(resource);
  const rows = useFormattedRows(before && after ? diffRecords(labels, before, after) : [], tenantId);
  const shown = rows.slice(0, MAX_INLINE);
  if (rows.length === 0) return null;
  return (
    <div className="inline-changes">
      {shown.map(({ field, ...row }) => (
        <div key={field}>
          <span className="secondary">{labels[field]}</span> <del>{row.before}</del>
          <span aria-hidden> → </span>
          <ins>{row.after}</ins>
        </div>
      ))}
      {rows.length > shown.length && <div className="secondary">{t.moreFields(rows.length - shown.length)}</div>}
    </div>
  );
}

interface FormattedRow {
  field: string;
  before: string;
  after: string;
}

/** The text of a leader is usually the name of the linked user. Then one of the two fields is enough. */
function useFormattedRows(rows: FieldChange[], tenantId: string | undefined): FormattedRow[] {
  const formatValue = useValueFormatter(rows, tenantId);
  const leader = rows.find(({ field }) => field === 'leader');
  const formatted = rows.map(({ field, before, after }) => ({
    field,
    before: formatValue(field, before, leader?.before),
    after: formatValue(field, after, leader?.after),
  }));
  const leaderText = formatted.find(({ field }) => field === 'leader');
  return formatted.filter(
    ({ field, before, after }) => field !== 'leaderId' || before !== leaderText?.before || after !== leaderText.after,
  );
}

/**
 * Returns a function that formats a value. `leader` is the text of the leader field, shown if the linked user can no longer be
 * read.
 */
function useValueFormatter(
  rows: FieldChange[],
  tenantId: string | undefined,
): (field: string, value: unknown, leader: unknown) => string {
  const t = useTexts(recordTexts);
  const formatList = useListFormat();
  const u = useTexts(formTexts);
  const f = useTexts(fieldTexts);
  const permissions = useTexts(permissionTexts) as Record<string, string>;
  const kindLabel = useKindLabel();
  const periods = useTexts(usageTexts);
  const nameOfQuota = useQuotaName();
  const idsIn = (fields: string[]) =>
    rows
      .flatMap(({ field, before, after }) => (fields.includes(field) ? [before, after].flat() : []))
      .map(Number)
      .filter((id) => id > 0);
  const departments = useDepartmentNames(idsIn(DEPARTMENT_FIELDS), tenantId);
  const users = useUserNames(idsIn(['leaderId']), tenantId);
  const codes = rows.flatMap(({ field, before, after }) => (field === 'tenantParent' ? [before, after] : []));
  const tenants = useTenantsByCode(codes.map((code) => (code ? String(code) : null)));
  const formatOne = (field: string, value: unknown, leader: unknown): string => {
    if (value === null || value === undefined || value === '') return t.none;
    if (field === 'reason') return t[value as 'LOGIN_FAILED' | 'WRONG_PASSWORD'] ?? String(value);
    if (field === 'status') return value === '1' ? u.disabled : u.normal;
    if (field === 'roles') return value === 'admin' ? u.admin : u.member;
    if (field === 'quota') return nameOfQuota(String(value));
    if (field === 'period') return periods[String(value) as 'none'] ?? String(value);
    if (field === 'total' && Number(value) === -1) return periods.noLimit;
    if (field === 'kinds') return kindLabel(String(value));
    if (field === 'permissions') return permissions[String(value)] ?? String(value);
    if (typeof value === 'boolean') return value ? t.yes : t.no;
    if (field === 'parentId' && Number(value) === 0) return t.top;
    if (DEPARTMENT_FIELDS.includes(field)) return departments.get(Number(value)) ?? `#${value}`;
    if (field === 'tenantParent') return tenants.get(String(value))?.tenantName || String(value);
    if (field === 'leaderId') return users.get(Number(value)) ?? String(leader || `#${value}`);
    if (field === 'accountCount' && Number(value) === -1) return f.unlimited;
    return String(value);
  };
  return (field, value, leader) =>
    Array.isArray(value) && value.length > 0
      ? formatList(value.map((item) => formatOne(field, item, leader)))
      : formatOne(field, Array.isArray(value) ? null : value, leader);
}
