import { Alert, Button, Modal } from 'antd';
import { type FormEvent, useState } from 'react';
import { useTexts } from '../language.ts';
import { logIn, logOut, useMe, useSession } from '../session.ts';
import { uiTexts } from './texts.ts';
import { useApiMutation } from './use-api-mutation.ts';
import { getErrorMessage } from './use-notify.ts';

/**
 * Asks for the password without leaving the page. The rejected requests are repeated after the login. It is loaded with the first
 * view, because a later version of the service would not have its files. To keep that view small, it does without antd's Form
 * and Input.
 */
export function SessionExpiredDialog() {
  const t = useTexts(uiTexts);
  const session = useSession();
  const { state } = session;
  const reason = session.state === 'expired' ? session.error : undefined;
  const { user, tenant } = useMe();
  const [error, setError] = useState<unknown>();
  const [isMissing, setIsMissing] = useState(false);
  // Show the error in the dialog instead of a notification.
  const onError = (error: unknown) => {
    setError(error);
    return true;
  };
  const login = useApiMutation({
    mutationFn: (password: string) => {
      setError(undefined);
      return logIn({ tenantId: tenant.tenantId, username: user.userName, password });
    },
    onError,
  });
  const logout = useApiMutation({ mutationFn: () => logOut(), onError });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (logout.isPending || login.isPending) return;
    const password = String(new FormData(event.currentTarget).get('password'));
    setIsMissing(password === '');
    if (password) login.mutate(password);
  };
  return (
    <Modal open={state === 'expired'} title={t.expired} footer={null} closable={false} keyboard={false} destroyOnHidden>
      {reason && <Alert type="warning" showIcon title={getErrorMessage(reason)} className="margin-bottom" />}
      <p>{t.expiredHint}</p>
      <p>
        <strong>{user.nickName || user.userName}</strong> · {tenant.tenantName || tenant.tenantId}
      </p>
      <form onSubmit={submit} noValidate>
        {error !== undefined && (
          <Alert type="error" showIcon title={getErrorMessage(error)} role="alert" className="margin-bottom" />
        )}
        <div className="expired-password">
          <label htmlFor="expired-password">{t.password}</label>
          <input
            id="expired-password"
            name="password"
            type="password"
            // biome-ignore lint/a11y/noAutofocus: the dialog opens over whatever the user was doing
            autoFocus
            autoComplete="current-password"
            aria-invalid={isMissing}
            aria-describedby="expired-password-error"
            onChange={() => setIsMissing(false)}
          />
          <div id="expired-password-error" role="alert">
            {isMissing && t.passwordRequired}
          </div>
        </div>
        <div className="form-actions">
          <Button onClick={() => logout.mutate()} disabled={login.isPending} loading={logout.isPending}>
            {t.logInAsOther}
          </Button>
          <Button type="primary" htmlType="submit" disabled={logout.isPending} loading={login.isPending}>
            {t.logInAndContinue}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
