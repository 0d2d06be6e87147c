import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { DescriptionList } from '../ui/description-list.tsx';
import { createTexts } from './create-texts.ts';
import { fieldTexts } from './field-texts.ts';
import { QUOTAS, RULES, type TenantValues } from './form-values.ts';
import { getSpan } from './period.ts';
import { PeriodBar } from './period-bar.tsx';

export interface NewTenant extends TenantValues {
  wantsAdministrator: boolean;
  username?: string;
  password?: string;
  /** The last step that the user has reached. */
  reached: number;
}

/** The last step: all values, before the tenant is created. */
export function CreateSummary({ values, onEdit }: { values: NewTenant; onEdit: (step: number) => void }) {
  const t = useTexts(createTexts);
  const f = useTexts(fieldTexts);
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId: values.tenantParent }),
    queryFn: ({ signal }) => api.listTenants({ tenantId: values.tenantParent ?? '' }, signal),
    enabled: !!values.tenantParent,
  });
  const parent = data?.data.rows[0];
  const toItem = (label: string, value: string | null | undefined) => ({ label, value });
  const quotas = QUOTAS.filter((key) => values.quotas?.[key]);
  const rules = RULES.filter((key) => values.rules?.[key]);
  const sections = [
    {
      title: f.basic,
      items: [
        toItem(f.tenantName, values.tenantName),
        toItem(f.tenantParent, `${parent?.tenantName ?? ''} ${values.tenantParent ?? ''}`.trim()),
        toItem(f.companyName, values.companyName),
        toItem(f.contactUserName, values.contactUserName),
        toItem(f.contactPhone, values.contactPhone),
      ],
    },
    {
      title: f.period,
      items: [
        toItem(f.startTime, values.startTime ?? t.startsImmediately),
        toItem(f.endTime, values.endTime ?? t.noEndDate),
        toItem(f.accountCount, values.unlimited ? f.unlimited : f.accounts(values.accountCount ?? 0)),
        toItem(f.status, values.status === '0' ? f.normal : f.disabled),
      ],
    },
    {
      title: f.package,
      items: [toItem(f.menuIds, values.menuIds.length ? values.menuIds.join(', ') : t.noMenus)],
    },
    {
      title: f.quotas,
      items: quotas.length
        ? quotas.map((key) => toItem(f[key], String(values.quotas[key])))
        : [toItem(f.quotas, t.allZero)],
    },
    {
      title: f.rules,
      items: rules.length
        ? rules.map((key) => toItem(f[key], f.characters(values.rules[key]?.length ?? 0)))
        : [toItem(f.rules, t.noRules)],
    },
    {
      title: f.administrator,
      items: values.wantsAdministrator
        ? [toItem(f.username, values.username), toItem(f.password, values.password ? t.passwordSet : '')]
        : [toItem(f.administrator, t.noAdministrator)],
    },
  ];
  return (
    <>
      <p className="secondary">{t.summaryHint}</p>
      {sections.map(({ title, items }, step) => (
        <section key={title} className="tenants-summary-section" aria-label={title}>
          <div className="tenants-summary-header">
            <h3>{title}</h3>
            <Button type="link" size="small" aria-label={t.editSection(title)} onClick={() => onEdit(step)}>
              {t.edit}
            </Button>
          </div>
          {step === 1 && <PeriodBar tenant={values} span={getSpan(values)} />}
          <DescriptionList items={items} />
        </section>
      ))}
    </>
  );
}
