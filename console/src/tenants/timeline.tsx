import dayjs from 'dayjs';
import { Link } from 'react-router';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { Axis, datesOf, Ends, Legend, PeriodBar } from './period-bar.tsx';
import { tenantsTexts } from './texts.ts';

/** A year and a half around today: what ends soon is what one comes for. */
const spanNow = () => ({
  from: dayjs().subtract(4, 'month').format('YYYY-MM-DD'),
  to: dayjs().add(14, 'month').format('YYYY-MM-DD'),
});

export function Timeline({ rows }: { rows: Tenant[] }) {
  const t = useTexts(tenantsTexts);
  const span = spanNow();
  return (
    <div className="tenants-timeline">
      <Legend />
      <div className="tenants-line tenants-line-head">
        <span />
        <Axis span={span} />
        <span />
      </div>
      <ol aria-label={t.timeline}>
        {rows.map((tenant) => (
          <li key={tenant.id} className="tenants-line">
            <span className="tenants-line-name">
              <Link to={`/tenants/${tenant.id}`}>{tenant.tenantName || tenant.tenantId}</Link>
              <small className="quiet">{datesOf(tenant, t)}</small>
            </span>
            <PeriodBar period={tenant} span={span} />
            <Ends period={tenant} />
          </li>
        ))}
      </ol>
    </div>
  );
}
