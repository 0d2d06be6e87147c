import dayjs from 'dayjs';
import { Link } from 'react-router';
import type { ListedTenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { TenantStateTag } from '../ui/tenant-state-tag.tsx';
import { Axis, formatDates, Legend, PeriodBar, PeriodStatus } from './period-bar.tsx';
import { tenantsTexts } from './texts.ts';

/** Returns a year and a half around today, because the timeline is for tenants that expire soon. */
const getTimelineSpan = () => ({
  from: dayjs().subtract(4, 'month').format('YYYY-MM-DD'),
  to: dayjs().add(14, 'month').format('YYYY-MM-DD'),
});

export function Timeline({ rows }: { rows: ListedTenant[] }) {
  const t = useTexts(tenantsTexts);
  const span = getTimelineSpan();
  return (
    <div className="tenants-timeline">
      <Legend />
      <div className="tenants-timeline-row tenants-timeline-header">
        <span />
        <Axis span={span} />
        <span />
      </div>
      <ol aria-label={t.timeline}>
        {rows.map((tenant) => (
          <li key={tenant.id} className="tenants-timeline-row">
            <span className="tenants-timeline-name">
              <Link to={`/tenants/${tenant.id}`}>{tenant.tenantName || tenant.tenantId}</Link>
              <small className="secondary">{formatDates(tenant, t)}</small>
            </span>
            <PeriodBar tenant={tenant} span={span} />
            <span>
              <TenantStateTag tenant={tenant} /> <PeriodStatus tenant={tenant} />
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}
