import { defineTexts } from '../language.ts';

/** The names of a tenant's limits, the same on all screens. */
export const quotaTexts = defineTexts({
  zh: {
    accountCount: '用户名额',
    enterpriseQuery: '企业查询',
    annualReportQuery: '年报查询',
    chainReport: '产业链报告',
    businessReport: '经营分析报告',
    riskReport: '风险评估表',
    merchant: '客商管理',
  },
  en: {
    accountCount: 'User limit',
    enterpriseQuery: 'Enterprise queries',
    annualReportQuery: 'Annual report queries',
    chainReport: 'Industry chain reports',
    businessReport: 'Business analysis reports',
    riskReport: 'Risk assessments',
    merchant: 'Customers and suppliers',
  },
});
