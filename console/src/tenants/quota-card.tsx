import { PlusOutlined } from '@ant-design/icons';
import { useQuery } from '@tanstack/react-query';
import { Button } from 'antd';
import { useState } from 'react';
import { api, type Quota, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { QuotaList } from '../ui/quota-list.tsx';
import { useQuotaName } from '../ui/quota-texts.ts';
import { QuotaTotal } from '../ui/quota-total.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { fieldTexts } from './field-texts.ts';
import { QuotaDialog } from './quota-dialog.tsx';
import { quotaFormTexts } from './quota-form-texts.ts';

/** The quotas of a tenant and their usage. Administrators of tenants above can change totals in place and add quotas. */
export function QuotaCard({ tenant }: { tenant: Tenant }) {
  const t = useTexts(quotaFormTexts);
  const { quotas } = useTexts(fieldTexts);
  const nameOf = useQuotaName();
  const isOwn = useMe().tenant.id === tenant.id;
  const [edited, setEdited] = useState<Quota | 'new'>();
  const tenantId = isOwn ? undefined : tenant.tenantId;
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.quotas.list(tenantId),
    queryFn: ({ signal }) => api.listQuotas({ tenantId }, signal),
    staleTime: 0,
  });
  const renderActions = (quota: Quota) => (
    <div className="quota-actions-list">
      <QuotaTotal tenant={tenant} quota={quota} />
      <Button type="link" size="small" aria-label={t.settingsOf(nameOf(quota.quota))} onClick={() => setEdited(quota)}>
        {t.settings}
      </Button>
    </div>
  );
  return (
    <Card
      title={quotas}
      extra={
        !isOwn && (
          <Button icon={<PlusOutlined />} onClick={() => setEdited('new')}>
            {t.add}
          </Button>
        )
      }
    >
      {error && !data ? (
        <LoadError error={error} onRetry={refetch} />
      ) : !data ? (
        <Loading />
      ) : (
        <QuotaList
          quotas={data.data}
          pathOf={(quota) => `/quotas/${quota}${tenantId ? `?tenantId=${tenantId}` : ''}`}
          {...(isOwn ? {} : { renderActions })}
        />
      )}
      {edited && (
        <QuotaDialog
          tenantId={tenant.tenantId}
          original={edited === 'new' ? undefined : edited}
          existing={data?.data.map(({ quota }) => quota) ?? []}
          onClose={() => setEdited(undefined)}
        />
      )}
    </Card>
  );
}
