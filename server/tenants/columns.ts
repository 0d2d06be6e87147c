import type { Column } from '../spreadsheets/column.ts';
import { STATUS_WORDS } from '../spreadsheets/words.ts';
import { QUOTAS, RULES } from './record.ts';
import type { Tenant } from './schema.ts';

const column = (key: string, zh: string, en: string, width: number, show: Column<Tenant>['show']): Column<Tenant> => ({
  key,
  header: { zh, en },
  width,
  imported: false,
  show,
});

const number = (text: Column<Tenant>): Column<Tenant> => ({ ...text, isNumber: true });

const QUOTA_HEADERS: Record<(typeof QUOTAS)[number], [string, string]> = {
  enterpriseQuery: ['企业查询', 'Enterprise queries'],
  annualReportQuery: ['年报查询', 'Annual report queries'],
  chainReport: ['供应链报告', 'Supply chain reports'],
  businessReport: ['经营分析报告', 'Business analysis reports'],
  riskReport: ['风险评估表', 'Risk assessments'],
  merchant: ['客商管理', 'Customers and suppliers'],
};

const RULE_HEADERS: Record<(typeof RULES)[number], [string, string]> = {
  modelZr: ['准入模型', 'Admission model'],
  modelPf: ['评分模型', 'Scoring model'],
  modelEd: ['额度模型', 'Credit line model'],
  catalogZr: ['准入目录规则', 'Admission catalog rule'],
  catalogPf: ['评分目录规则', 'Scoring catalog rule'],
  catalogEd: ['额度目录规则', 'Credit line catalog rule'],
  catalogRw: ['预警目录规则', 'Early warning catalog rule'],
};

/** The columns of tenants in exports: the documented fields. Tenants are not imported from sheets. */
export const TENANT_COLUMNS: readonly Column<Tenant>[] = [
  column('id', '内部编号', 'Internal ID', 22, ({ id }) => id),
  column('tenantId', '租户编号', 'Tenant code', 14, ({ tenantId }) => tenantId),
  column('tenantName', '租户名称', 'Tenant name', 24, ({ tenantName }) => tenantName),
  column('tenantParent', '上级租户', 'Parent tenant', 14, ({ tenantParent }) => tenantParent),
  column('companyName', '企业名称', 'Company', 28, ({ companyName }) => companyName),
  column('contactUserName', '联系人', 'Contact person', 14, ({ contactUserName }) => contactUserName),
  column('contactPhone', '联系电话', 'Contact phone', 18, ({ contactPhone }) => contactPhone),
  column('startTime', '开始日期', 'Start date', 12, ({ startTime }) => startTime),
  column('endTime', '结束日期', 'End date', 12, ({ endTime }) => endTime),
  column('status', '状态', 'Status', 10, ({ status }, language) => STATUS_WORDS[status][language]),
  number(column('accountCount', '用户名额', 'User limit', 10, ({ accountCount }) => accountCount)),
  column('menuIds', '授权菜单', 'Menus', 24, ({ packageBo }) => packageBo.menuIds || null),
  ...QUOTAS.map((key) => number(column(key, ...QUOTA_HEADERS[key], 12, ({ quotaBo }) => quotaBo[key]))),
  ...RULES.map((key) => column(key, ...RULE_HEADERS[key], 20, ({ ruleBo }) => ruleBo[key])),
];
