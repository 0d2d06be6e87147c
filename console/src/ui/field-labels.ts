import type { AuditEntry } from '../api.ts';
import { departmentsTexts } from '../departments/texts.ts';
import { keyFormTexts } from '../keys/texts.ts';
import { defineTexts, useTexts } from '../language.ts';
import { fieldTexts } from '../tenants/field-texts.ts';
import { QUOTAS, RULES } from '../tenants/form-values.ts';
import { webhookFormTexts } from '../webhooks/texts.ts';
import { usageTexts } from './usage-texts.ts';
import { formTexts } from './user/texts.ts';

export const recordTexts = defineTexts({
  zh: {
    parentId: '上级部门',
    top: '顶级',
    yes: '是',
    no: '否',
    reason: '失败原因',
    LOGIN_FAILED: '用户名或密码错误',
    WRONG_PASSWORD: '旧密码错误',
    none: '—',
    field: '字段',
    before: '变更前',
    after: '变更后',
    value: '值',
    noChanges: '暂无数据',
    onlyMetadata: '仅修改人和修改时间有变化',
    moreFields: (count: number) => `另有 ${count} 个字段`,
    percent: '已用比例（%）',
    days: '剩余天数不超过',
  },
  en: {
    parentId: 'Parent department',
    top: 'Top level',
    yes: 'Yes',
    no: 'No',
    reason: 'Reason',
    LOGIN_FAILED: 'Wrong user name or password',
    WRONG_PASSWORD: 'Wrong old password',
    none: '—',
    field: 'Field',
    before: 'Before',
    after: 'After',
    value: 'Value',
    noChanges: 'No data',
    onlyMetadata: 'Only the last editor and the time of the change differ',
    moreFields: (count: number) => `${count} more ${count === 1 ? 'field' : 'fields'}`,
    percent: 'Used (%)',
    days: 'Days left, at most',
  },
});

/** The labels of a record's fields in the audit log, in the order of its rows. Most are the labels of the form. */
export function useFieldLabels(resource: AuditEntry['resource']): Record<string, string> {
  const t = useTexts(recordTexts);
  const d = useTexts(departmentsTexts);
  const u = useTexts(formTexts);
  const f = useTexts(fieldTexts);
  const w = useTexts(webhookFormTexts);
  const k = useTexts(keyFormTexts);
  const q = useTexts(usageTexts);
  switch (resource) {
    case 'department':
      return {
        deptName: d.name,
        parentId: t.parentId,
        leader: d.leader,
        leaderId: d.leaderUser,
        phone: d.phone,
        email: d.email,
        orderNum: d.order,
        status: d.status,
        source: d.source,
        externalId: d.externalId,
      };
    case 'user':
      return {
        userName: u.userName,
        nickName: u.nickName,
        position: u.position,
        deptId: u.deptId,
        deptIds: u.deptIds,
        phone: u.phone,
        email: u.email,
        roles: u.role,
        status: u.status,
        mustChangePassword: u.mustChangePassword,
        source: u.source,
        externalId: u.externalId,
      };
    case 'webhook':
      return { name: w.name, url: w.url, kinds: w.kinds, below: w.belowLabel, status: w.status };
    case 'key':
      return {
        keyName: k.keyName,
        permissions: k.permissions,
        below: k.belowLabel,
        expiresTime: k.expiresTime,
        addresses: k.addresses,
        requestsPerMinute: k.requestsPerMinute,
        status: k.status,
      };
    case 'quota':
      return { quota: q.quota, total: q.total, period: q.period, pooled: q.pooled };
    case 'notice':
      return { quota: q.quota, percent: t.percent, used: q.used, total: q.total, endTime: f.endTime, days: t.days };
    case 'login':
      return { userName: u.userName, reason: t.reason };
    default:
      return Object.fromEntries(TENANT_FIELDS.map((field) => [field, f[field]]));
  }
}

const TENANT_FIELDS = [
  'tenantName',
  'tenantId',
  'companyName',
  'contactUserName',
  'contactPhone',
  'tenantParent',
  'startTime',
  'endTime',
  'status',
  'accountCount',
  'menuIds',
  ...QUOTAS,
  ...RULES,
] as const;
