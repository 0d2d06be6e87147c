import { CheckCircleFilled } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import { Link } from 'react-router';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { session } from '../session.ts';
import { createStore, useStore } from '../store.ts';
import { Card } from '../ui/card.tsx';
import { DescriptionList } from '../ui/description-list.tsx';
import { LeaveGuard } from '../ui/leave-guard.tsx';
import { leaveTexts } from '../ui/leave-texts.ts';
import { getTenantState, type TenantState } from '../ui/tenant-period.ts';
import { uiTexts } from '../ui/texts.ts';
import { useCopy } from '../ui/use-copy.ts';
import { fieldTexts } from './field-texts.ts';
import { tenantsTexts } from './texts.ts';

/**
 * The password of the first administrator of the tenant with this id, until the user closes or leaves the notice. It is kept in
 * memory only: the state of a navigation would be stored with the history of the browser.
 */
const lastPassword = createStore<{ id: string; password: string } | undefined>(undefined);

export const rememberPassword = (id: string, password: string) => lastPassword.set({ id, password });
const forgetPassword = () => lastPassword.set(undefined);

// The next user of this tab must not see it.
session.subscribe(() => 'me' in session.get() || forgetPassword());

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
  const { labelled } = useTexts(uiTexts);
  const copy = useCopy();
  const { leaveSecret, leaveSecretHint } = useTexts(leaveTexts);
  const remembered = useStore(lastPassword);
  const password = remembered?.id === tenant.id ? remembered.password : undefined;
  const loginUrl = `${window.location.origin}/login`;
  const loginInfo = [
    { label: t.loginAddress, value: loginUrl },
    { label: f.tenantId, value: tenant.tenantId },
    { label: t.loginUser, value: username },
    ...(password ? [{ label: t.loginPassword, value: password }] : []),
  ];
  const warnings: Partial<Record<TenantState, string>> = {
    disabled: t.loginDisabled,
    upcoming: t.loginNotStarted(tenant.startTime ?? ''),
    ended: t.loginEnded,
  };
  const warning = warnings[getTenantState(tenant)];
  const loginText = loginInfo.map(({ label, value }) => labelled(label, value)).join('\n');
  return (
    <Card className="tenants-created margin-bottom" role="status">
      {username && password && (
        // A navigation to the same path closes the notice, too.
        <LeaveGuard
          title={leaveSecret}
          hint={leaveSecretHint}
          shouldBlock={() => lastPassword.get() !== undefined}
          onLeave={forgetPassword}
        />
      )}
      <h2>
        <CheckCircleFilled /> {t.createdTitle(tenant.tenantName || tenant.tenantId)}
      </h2>
      {warning && <Alert type="warning" showIcon title={warning} className="margin-bottom" />}
      <p>
        {username ? t.loginHint : t.loginNoAdministrator} {username && password && t.loginShownOnce}
      </p>
      <DescriptionList
        items={
          username
            ? [
                ...loginInfo.map(({ label, value }) => ({ label, value: <strong>{value}</strong> })),
                ...(password ? [] : [{ label: t.loginPassword, value: t.loginPasswordHint }]),
              ]
            : [{ label: f.tenantId, value: <strong>{tenant.tenantId}</strong> }]
        }
      />
      <div className="tenants-created-actions">
        {username && <Button onClick={() => copy(loginText, t.copied)}>{t.copy}</Button>}
        {!username && <Link to={`/people?tenantId=${tenant.tenantId}`}>{t.createUser}</Link>}
        <Button
          type="primary"
          onClick={() => {
            forgetPassword();
            onClose();
          }}
        >
          {t.done}
        </Button>
      </div>
    </Card>
  );
}
