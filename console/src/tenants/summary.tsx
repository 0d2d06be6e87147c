import { useQuery } from '@tanstack/react-query';
import { Button, Descriptions } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { flowTexts } from './flow-texts.ts';
import { spanOf } from './period.ts';
import { PeriodBar } from './period-bar.tsx';
import { HIDDEN_QUOTAS, QUOTAS, RULES, type TenantValues } from './values.ts';

export interface NewTenant extends TenantValues {
  wantsAdministrator: boolean;
  username?: string;
  password?: string;
  /** The furthest step so far. */
  reached: number;
}

/** Everything that was entered, before it is sent. */
export function Summary({ values, go }: { values: NewTenant; go: (step: number) => void }) {
  const t = useTexts(flowTexts);
  const f = useTexts(fieldTexts);
  const { data } = useQuery({
    queryKey: ['tenant-list', { tenantId: values.tenantParent }],
    queryFn: ({ signal }) => api.listTenants({ tenantId: values.tenantParent ?? '' }, signal),
    enabled: !!values.tenantParent,
  });
  const parent = data?.data.rows[0];
  const line = (label: string, children: string | null | undefined) => ({
    key: label,
    label,
    children: children || '—',
  });
  const quotas = [...QUOTAS, ...HIDDEN_QUOTAS].filter((key) => values.quotas?.[key]);
  const rules = RULES.filter((key) => values.rules?.[key]);
  const parts = [
    {
      title: f.who,
      lines: [
        line(f.tenantName, values.tenantName),
        line(f.tenantParent, `${parent?.tenantName ?? ''} ${values.tenantParent ?? ''}`.trim()),
        line(f.companyName, values.companyName),
        line(f.contactUserName, values.contactUserName),
        line(f.contactPhone, values.contactPhone),
      ],
    },
    {
      title: f.period,
      lines: [
        line(f.startTime, values.startTime ?? t.atOnce),
        line(f.endTime, values.endTime ?? t.endless),
        line(f.accountCount, values.unlimited ? f.unlimited : f.accounts(values.accountCount ?? 0)),
        line(f.status, values.status === '0' ? f.normal : f.disabled),
      ],
    },
    {
      title: f.package,
      lines: [line(f.menuIds, values.menuIds.length ? values.menuIds.join(', ') : t.noMenus)],
    },
    {
      title: f.quotas,
      lines: quotas.length
        ? quotas.map((key) => line(f[key], String(values.quotas[key])))
        : [line(f.quotas, t.allZero)],
    },
    {
      title: f.rules,
      lines: rules.length
        ? rules.map((key) => line(f[key], f.chars(values.rules[key]?.length ?? 0)))
        : [line(f.rules, t.noRules)],
    },
    {
      title: f.administrator,
      lines: values.wantsAdministrator
        ? [line(f.username, values.username), line(f.password, values.password ? t.passwordSet : '')]
        : [line(f.administrator, t.noAdministrator)],
    },
  ];
  return (
    <>
      <p className="quiet">{t.summaryHint}</p>
      {parts.map(({ title, lines }, at) => (
        <section key={title} className="tenants-part" aria-label={title}>
          <div className="tenants-part-head">
            <h3>{title}</h3>
            <Button type="link" size="small" aria-label={t.changeOf(title)} onClick={() => go(at)}>
              {t.change}
            </Button>
          </div>
          {at === 1 && <PeriodBar period={values} span={spanOf(values)} />}
          <Descriptions size="small" column={{ xs: 1, md: 2 }} items={lines} />
        </section>
      ))}
    </>
  );
}
