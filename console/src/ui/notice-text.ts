import type { AuditEntry, Notice } from '../api.ts';
import { defineTexts, useTexts } from '../language.ts';
import { useQuotaName } from './quota-texts.ts';

const noticeTexts = defineTexts({
  zh: {
    quota: (quota: string, percent: number, used: string, total: string) =>
      percent >= 100
        ? `${quota}：已用完（${used} / ${total}）`
        : `${quota}：用量已达 ${percent}%（${used} / ${total}）`,
    end: (date: string, days: number) => `服务将于 ${date} 到期，剩余不超过 ${days} 天`,
    ofTenant: (tenant: string, text: string) => `${tenant}：${text}`,
    unknown: '提醒',
  },
  en: {
    quota: (quota: string, percent: number, used: string, total: string) =>
      percent >= 100
        ? `${quota}: used up (${used} of ${total})`
        : `${quota}: ${percent}% reached (${used} of ${total})`,
    end: (date: string, days: number) => `Service ends on ${date}, at most ${days} ${days === 1 ? 'day' : 'days'} left`,
    ofTenant: (tenant: string, text: string) => `${tenant}: ${text}`,
    unknown: 'Notice',
  },
});

/** Returns the notice of an entry: about a quota that runs out, or about the end of the service. */
export const getNotice = ({ resource, after }: Pick<AuditEntry, 'resource' | 'after'>): Notice | null =>
  resource === 'notice' ? (after as Notice | null) : null;

/** Returns a function that says what a notice warns about. `tenant` names the tenant that it is about, if that is not clear. */
export function useNoticeText(): (notice: Notice, tenant?: string) => string {
  const t = useTexts(noticeTexts);
  const nameOfQuota = useQuotaName();
  const describe = ({ quota, percent, total, used, endTime, days }: Notice) => {
    if (quota) return t.quota(nameOfQuota(quota), percent ?? 0, format(used), format(total));
    return endTime ? t.end(endTime, days ?? 0) : t.unknown;
  };
  return (notice, tenant) => (tenant ? t.ofTenant(tenant, describe(notice)) : describe(notice));
}

const format = (value: number | null) => (value ?? 0).toLocaleString();
