import { Alert, Button, Form, Input, Modal } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { logIn, logOut, useMe, useSession } from '../session.ts';
import { useAction } from './action.ts';
import { wordsFor } from './notices.ts';
import { uiTexts } from './texts.ts';

/** Over the page as it is: what was typed stays, and the request that was refused is repeated after the login. */
export function SessionDialog() {
  const t = useTexts(uiTexts);
  const { state } = useSession();
  const { user, tenant } = useMe();
  const [error, setError] = useState<unknown>();
  // Said in the dialog, beside the password.
  const refused = (error: unknown) => {
    setError(error);
    return true;
  };
  const again = useAction({
    run: ({ password }: { password: string }) => {
      setError(undefined);
      return logIn({ tenantId: tenant.tenantId, username: user.userName, password });
    },
    refused,
  });
  const leave = useAction({ run: () => logOut(), refused });
  return (
    <Modal open={state === 'expired'} title={t.expired} footer={null} closable={false} keyboard={false} destroyOnHidden>
      <p>{t.expiredHint}</p>
      <p>
        <strong>{user.nickName || user.userName}</strong> · {tenant.tenantName || tenant.tenantId}
      </p>
      <Form layout="vertical" onFinish={(typed) => leave.busy || again.start(typed)} requiredMark={false}>
        {error !== undefined && (
          <Alert type="error" showIcon title={wordsFor(error)} role="alert" className="gap-below" />
        )}
        <Form.Item name="password" label={t.password} rules={[{ required: true, message: t.passwordNeeded }]}>
          <Input.Password autoFocus autoComplete="current-password" />
        </Form.Item>
        <div className="actions">
          <Button onClick={() => leave.start()} disabled={again.busy} loading={leave.busy}>
            {t.asAnother}
          </Button>
          <Button type="primary" htmlType="submit" disabled={leave.busy} loading={again.busy}>
            {t.goOn}
          </Button>
        </div>
      </Form>
    </Modal>
  );
}
