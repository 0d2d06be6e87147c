import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Quota } from '../api.ts';
import { useTexts } from '../language.ts';
import { useQuotaName } from './quota-texts.ts';
import { StatusTag } from './status-tag.tsx';
import { UsageMeter } from './usage-meter.tsx';
import { usageTexts } from './usage-texts.ts';
import './quota-list.css';

interface Props {
  quotas: Quota[];
  pathOf: (quota: string) => string;
  /** What can be done with a quota of a tenant below. */
  renderActions?: (quota: Quota) => ReactNode;
}

/** The quotas of one tenant. On phones, the cells of a row are stacked. */
export function QuotaList({ quotas, pathOf, renderActions }: Props) {
  const t = useTexts(usageTexts);
  const nameOf = useQuotaName();
  return (
    <table className="quota-table">
      <thead>
        <tr>
          <th scope="col">{t.quota}</th>
          <th scope="col">{t.used}</th>
          <th scope="col" className="quota-number">
            {t.reserved}
          </th>
          <th scope="col" className="quota-number">
            {t.left}
          </th>
          <th scope="col">{t.period}</th>
          {renderActions && (
            <th scope="col" className="quota-actions">
              {t.actions}
            </th>
          )}
        </tr>
      </thead>
      <tbody>
        {quotas.map((quota) => (
          <tr key={quota.quota}>
            <th scope="row">
              <Link to={pathOf(quota.quota)}>{nameOf(quota.quota)}</Link>{' '}
              {quota.pooled && <StatusTag>{t.pooled}</StatusTag>}
            </th>
            <td className="quota-usage">
              <UsageMeter
                name={nameOf(quota.quota)}
                used={quota.used}
                total={quota.total}
                reserved={quota.reserved}
                hidesName
              />
            </td>
            <td className="quota-number" data-label={t.reserved}>
              {quota.reserved.toLocaleString()}
            </td>
            <td className="quota-number" data-label={t.left}>
              {quota.left < 0 ? t.noLimit : quota.left.toLocaleString()}
            </td>
            <td>
              <QuotaPeriodText quota={quota} />
            </td>
            {renderActions && <td className="quota-actions">{renderActions(quota)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** When `used` becomes 0 again. */
export function QuotaPeriodText({ quota: { period, resetTime } }: { quota: Pick<Quota, 'period' | 'resetTime'> }) {
  const t = useTexts(usageTexts);
  return (
    <>
      {t[period]}
      {resetTime && <span className="secondary quota-reset">{t.nextReset(resetTime.slice(0, 16))}</span>}
    </>
  );
}
