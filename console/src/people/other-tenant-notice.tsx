import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { useNavigate } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { peopleTexts } from './texts.ts';

/** Shown while the users of a descendant tenant are managed. */
export function OtherTenantNotice({ tenantId }: { tenantId: string }) {
  const t = useTexts(peopleTexts);
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list({ tenantId }),
    queryFn: ({ signal }) => api.listTenants({ tenantId, pageSize: 1 }, signal),
  });
  const tenant = data?.data.rows.find((row) => row.tenantId === tenantId);
  return (
    <Alert
      type="info"
      showIcon
      className="margin-bottom"
      title={t.otherTenant(tenant?.tenantName ? `${tenant.tenantName} ${tenantId}` : tenantId)}
      description={t.otherTenantHint}
      action={<Button onClick={() => navigate('/people')}>{t.backToOwnTenant}</Button>}
    />
  );
}
