import { CheckCircleFilled } from '@ant-design/icons';
import { Alert, Button, Card, Descriptions } from 'antd';
import { Link } from 'react-router';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useNotices } from '../ui/notices.ts';
import { fieldTexts } from './field-texts.ts';
import { standingOf } from './period.ts';
import { tenantsTexts } from './texts.ts';

/** Right after a tenant was made: its code, its administrator, and how he gets in. */
export function Created({ tenant, username, close }: { tenant: Tenant; username: string; close: () => void }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const notices = useNotices();
  const address = `${window.location.origin}/login`;
  const told = [
    { label: t.loginAddress, value: address },
    { label: f.tenantId, value: tenant.tenantId },
    { label: t.loginUser, value: username },
  ];
  const standing = standingOf(tenant);
  const hindrance =
    tenant.status === '1'
      ? t.loginDisabled
      : standing === 'waiting'
        ? t.loginLater(tenant.startTime ?? '')
        : standing === 'ended'
          ? t.loginEnded
          : '';
  const copy = async () => {
    await navigator.clipboard.writeText(told.map(({ label, value }) => `${label}: ${value}`).join('\n'));
    notices.done(t.copied);
  };
  return (
    <Card className="tenants-created gap-below" role="status">
      <h2>
        <CheckCircleFilled /> {t.createdTitle(tenant.tenantName || tenant.tenantId)}
      </h2>
      {hindrance && <Alert type="warning" showIcon title={hindrance} className="gap-below" />}
      <p>{username ? t.loginHow : t.loginNobody}</p>
      <Descriptions
        column={1}
        size="small"
        items={
          username
            ? [
                ...told.map(({ label, value }) => ({ key: label, label, children: <strong>{value}</strong> })),
                { key: 'password', label: t.loginPassword, children: t.loginPasswordHint },
              ]
            : [{ key: 'code', label: f.tenantId, children: <strong>{tenant.tenantId}</strong> }]
        }
      />
      <div className="tenants-buttons">
        {/* Browsers have it on secure origins only. */}
        {username && navigator.clipboard && <Button onClick={() => void copy().catch(notices.failed)}>{t.copy}</Button>}
        {!username && <Link to={`/people?tenantId=${tenant.tenantId}`}>{t.addUser}</Link>}
        <Button type="primary" onClick={close}>
          {t.gotIt}
        </Button>
      </div>
    </Card>
  );
}
