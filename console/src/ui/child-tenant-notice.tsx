import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { useNavigate } from 'react-router';
import { api } from '../api.ts';
import { defineTexts, useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';

const noticeTexts = defineTexts({
  zh: { backToOwnTenant: '返回本租户' },
  en: { backToOwnTenant: 'Back to your tenant' },
});

interface Props {
  tenantId: string;
  /** Says what the screen does with the tenant, which is given by name and code. */
  title: (tenant: string) => string;
  description?: string;
  /** The same screen of the user's own tenant: a button leads there. */
  ownPath?: string;
}

/** Shown on a screen while it shows a child tenant. */
export function ChildTenantNotice({ tenantId, title, description, ownPath }: Props) {
  const t = useTexts(noticeTexts);
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
      title={title(tenant?.tenantName ? `${tenant.tenantName} ${tenantId}` : tenantId)}
      description={description}
      action={ownPath && <Button onClick={() => navigate(ownPath)}>{t.backToOwnTenant}</Button>}
    />
  );
}
