import { Alert, Button, Form, Input, Modal } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { logIn, logOut, useMe, useSession } from '../session.ts';
import { uiTexts } from './texts.ts';
import { useApiMutation } from './use-api-mutation.ts';
import { getErrorMessage } from './use-notify.ts';

/** Asks for the password without leaving the page. The rejected requests are repeated after the login. */
export default function SessionExpiredDialog() {
  const t = useTexts(uiTexts);
  const { state } = useSession();
  const { user, tenant } = useMe();
  const [error, setError] = useState<unknown>();
  // Show the error in the dialog instead of a notification.
  const onError = (error: unknown) => {
    setError(error);
    return true;
  };
  const login = useApiMutation({
    mutationFn: ({ password }: { password: string }) => {
      setError(undefined);
      return logIn({ tenantId: tenant.tenantId, username: user.userName, password });
    },
    onError,
  });
  const logout = useApiMutation({ mutationFn: () => logOut(), onError });
  return (
    <Modal open={state === 'expired'} title={t.expired} footer={null} closable={false} keyboard={false} destroyOnHidden>
      <p>{t.expiredHint}</p>
      <p>
        <strong>{user.nickName || user.userName}</strong> · {tenant.tenantName || tenant.tenantId}
      </p>
      <Form layout="vertical" onFinish={(values) => logout.isPending || login.mutate(values)} requiredMark={false}>
        {error !== undefined && (
          <Alert type="error" showIcon title={getErrorMessage(error)} role="alert" className="margin-bottom" />
        )}
        <Form.Item name="password" label={t.password} rules={[{ required: true, message: t.passwordRequired }]}>
          <Input.Password autoFocus autoComplete="current-password" />
        </Form.Item>
        <div className="form-actions">
          <Button onClick={() => logout.mutate()} disabled={login.isPending} loading={logout.isPending}>
            {t.logInAsOther}
          </Button>
          <Button type="primary" htmlType="submit" disabled={logout.isPending} loading={login.isPending}>
            {t.logInAndContinue}
          </Button>
        </div>
      </Form>
    </Modal>
  );
}
