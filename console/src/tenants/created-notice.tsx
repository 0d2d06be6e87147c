import { CheckCircleFilled } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import { Link } from 'react-router';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { useCopy } from '../ui/use-copy.ts';
import { fieldTexts } from './field-texts.ts';
import { getPeriodState } from './period.ts';
import { tenantsTexts } from './texts.ts';

/** Shown after a tenant was created. Lists the login details of its administrator. */
export function CreatedNotice({
  tenant,
  username,
  onClose,
}: {
  tenant: Tenant;
  username: string;
  onClose: () => void;
}) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const copy = useCopy();
  const loginUrl = `${window.location.origin}/login`;
  const loginInfo = [
    { label: t.loginAddress, value: loginUrl },
    { label: f.tenantId, value: tenant.tenantId },
    { label: t.loginUser, value: username },
  ];
  const periodState = getPeriodState(tenant);
  const warning =
    tenant.status === '1'
      ? t.loginDisabled
      : periodState === 'upcoming'
        ? t.loginNotStarted(tenant.startTime ?? '')
        : periodState === 'ended'
          ? t.loginEnded
          : '';
  const loginText = loginInfo.map(({ label, value }) => `${label}: ${value}`).join('\n');
  return (
    <Card className="tenants-created margin-bottom" role="status">
      <h2>
        <CheckCircleFilled /> {t.createdTitle(tenant.tenantName || tenant.tenantId)}
      </h2>
      {warning && <Alert type="warning" showIcon title={warning} className="margin-bottom" />}
      <p>{username ? t.loginHint : t.loginNoAdministrator}</p>
      <DescriptionList
        items={
          username
            ? [
                ...loginInfo.map(({ label, value }) => ({ label, value: <strong>{value}</strong> })),
                { label: t.loginPassword, value: t.loginPasswordHint },
              ]
            : [{ label: f.tenantId, value: <strong>{tenant.tenantId}</strong> }]
        }
      />
      <div className="tenants-created-actions">
        {username && <Button onClick={() => copy(loginText, t.copied)}>{t.copy}</Button>}
        {!username && <Link to={`/people?tenantId=${tenant.tenantId}`}>{t.addUser}</Link>}
        <Button type="primary" onClick={onClose}>
          {t.done}
        </Button>
      </div>
    </Card>
  );
}
