import { useQuery } from '@tanstack/react-query';
import { Alert, Button } from 'antd';
import { useNavigate } from 'react-router';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { peopleTexts } from './texts.ts';

/** Says whose people these are, when they are not of one's own tenant. */
export function Elsewhere({ tenantId }: { tenantId: string }) {
  const t = useTexts(peopleTexts);
  const navigate = useNavigate();
  const { data } = useQuery({
    queryKey: ['tenant-list', { tenantId }],
    queryFn: ({ signal }) => api.listTenants({ tenantId, pageSize: 1 }, signal),
  });
  const tenant = data?.data.rows.find((row) => row.tenantId === tenantId);
  return (
    <Alert
      type="info"
      showIcon
      className="gap-below"
      title={t.elsewhere(tenant?.tenantName ? `${tenant.tenantName} ${tenantId}` : tenantId)}
      description={t.elsewhereHint}
      action={<Button onClick={() => navigate('/people')}>{t.backHome}</Button>}
    />
  );
}
