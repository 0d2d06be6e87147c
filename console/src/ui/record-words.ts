import type { AuditEntry } from '../api.ts';
import { departmentsTexts } from '../departments/texts.ts';
import { texts, useTexts } from '../language.ts';
import { formTexts } from '../people/texts.ts';
import { fieldTexts } from '../tenants/field-texts.ts';

/** What the fields of the ledger's records are called: in the words of the forms, which is why their texts are here. */

export const recordTexts = texts({
  zh: {
    parentId: '上级部门',
    top: '顶级',
    webhookName: '名称',
    url: '地址',
    kinds: '通知的变更',
    reason: '拒绝原因',
    between: '、',
    none: '—',
    field: '项目',
    before: '变更前',
    after: '变更后',
    value: '内容',
    noDifference: '没有可以显示的内容',
    onlyStamps: '只有修改人和修改时间不同',
  },
  en: {
    parentId: 'Parent department',
    top: 'Top level',
    webhookName: 'Name',
    url: 'Address',
    kinds: 'Changes told',
    reason: 'Reason',
    between: ', ',
    none: '—',
    field: 'Field',
    before: 'Before',
    after: 'After',
    value: 'Value',
    noDifference: 'Nothing to show',
    onlyStamps: 'Only who changed it last, and when, differ',
  },
});

/** In the order of the forms. */
export function useRecordWords(resource: AuditEntry['resource']): Record<string, string> {
  const t = useTexts(recordTexts);
  const d = useTexts(departmentsTexts);
  const u = useTexts(formTexts);
  const f = useTexts(fieldTexts);
  switch (resource) {
    case 'department':
      return {
        deptName: d.name,
        parentId: t.parentId,
        leader: d.leader,
        phone: d.phone,
        email: d.email,
        orderNum: d.order,
        status: d.status,
      };
    case 'user':
      return {
        userName: u.userName,
        nickName: u.nickName,
        deptId: u.deptId,
        deptIds: u.deptIds,
        phone: u.phone,
        email: u.email,
        roles: u.role,
        status: u.status,
      };
    case 'webhook':
      return { name: t.webhookName, url: t.url, kinds: t.kinds, status: u.status };
    case 'login':
      return { userName: u.userName, reason: t.reason };
    default:
      return Object.fromEntries(TENANT_FIELDS.map((field) => [field, f[field as keyof typeof f] as string]));
  }
}

const TENANT_FIELDS = [
  ...['tenantName', 'tenantId', 'companyName', 'contactUserName', 'contactPhone', 'tenantParent', 'startTime'],
  ...['endTime', 'status', 'accountCount', 'menuIds', 'enterpriseQuery', 'annualReportQuery', 'chainReport'],
  ...['businessReport', 'riskReport', 'merchant', 'modelZr', 'modelPf', 'modelEd', 'catalogZr', 'catalogPf'],
  ...['catalogEd', 'catalogRw'],
];
