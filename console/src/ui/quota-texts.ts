import { defineTexts, useTexts } from '../language.ts';

/** The names of a tenant's limits, the same on all screens. */
export const quotaTexts = defineTexts({
  zh: {
    accountCount: '用户名额',
    accounts: '用户配额',
    enterpriseQuery: '企业查询',
    annualReportQuery: '年报查询',
    chainReport: '供应链报告',
    businessReport: '经营分析报告',
    riskReport: '风险评估表',
    merchant: '客商管理',
  },
  en: {
    accountCount: 'User limit',
    accounts: 'User quota',
    enterpriseQuery: 'Enterprise queries',
    annualReportQuery: 'Annual report queries',
    chainReport: 'Supply chain reports',
    businessReport: 'Business analysis reports',
    riskReport: 'Risk assessments',
    merchant: 'Customers and suppliers',
  },
});

/** The quota that limits the number of users. The service counts them itself. */
export const ACCOUNTS = 'accounts';

/** The quotas whose totals are in the tenant's record. */
export const isInTenantRecord = (quota: string) =>
  quota !== 'accountCount' && quota !== ACCOUNTS && quota in quotaTexts.zh;

/** Returns a function that names a quota. Quotas that administrators have added have no translations. */
export function useQuotaName(): (quota: string) => string {
  const names = useTexts(quotaTexts) as Record<string, string>;
  return (quota) => names[quota] ?? quota;
}
