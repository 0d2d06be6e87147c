import { GlobalOutlined } from '@ant-design/icons';
import { Alert, Button, Form, Input, type InputRef } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { Navigate, useSearchParams } from 'react-router';
import { setLanguage, useLanguage, useTexts } from '../language.ts';
import {
  type Login as Credentials,
  continueSession,
  getLastTenantId,
  isDifferentUser,
  logIn,
  logOut,
  useSession,
} from '../session.ts';
import logo from '../ui/banyan.svg';
import { PasswordForm } from '../ui/password-form.tsx';
import { Loading } from '../ui/states.tsx';
import { uiTexts } from '../ui/texts.ts';
import { getErrorMessage, useNotify } from '../ui/use-notify.ts';
import { loginTexts } from './texts.ts';

export default function Login() {
  const t = useTexts(loginTexts);
  const { console: product } = useTexts(uiTexts);
  const session = useSession();
  const [search] = useSearchParams();
  useEffect(() => {
    document.title = `${t.title} · ${product}`;
  }, [t, product]);
  if (session.state === 'restoring') return <Loading />;
  if (session.state === 'passwordChange') return <PasswordChange />;
  if (session.state !== 'loggedOut')
    return <Navigate to={isDifferentUser() ? '/home' : localPath(search.get('to'))} replace />;
  return (
    <main className="login">
      <div className="login-card">
        <img src={logo} alt="" width={48} height={48} />
        <h1>{t.welcome}</h1>
        <p className="secondary">{t.slogan}</p>
        <LoginForm initialError={session.error} />
        <LanguageButton />
      </div>
    </main>
  );
}

/** Asks for a new password in place of one that an administrator has set. */
function PasswordChange() {
  const t = useTexts(loginTexts);
  const notify = useNotify();
  return (
    <main className="login">
      <div className="login-card">
        <img src={logo} alt="" width={48} height={48} />
        <h1>{t.changePassword}</h1>
        <p className="secondary">{t.changePasswordHint}</p>
        <PasswordForm onChanged={() => continueSession().catch(notify.error)} />
        <Button type="text" onClick={() => logOut().catch(notify.error)}>
          {t.logOut}
        </Button>
        <LanguageButton />
      </div>
    </main>
  );
}

/** Accepts paths of the console only: `to` must not redirect to another site. */
const localPath = (to: string | null) => (to && /^\/(?![/\\])/.test(to) ? to : '/home');

/** `initialError`: why the service ended the previous session. */
function LoginForm({ initialError }: { initialError: unknown }) {
  const t = useTexts(loginTexts);
  const [error, setError] = useState(initialError);
  const [submitting, setSubmitting] = useState(false);
  const [form] = Form.useForm<Credentials>();
  const passwordInput = useRef<InputRef>(null);
  const lastTenantId = getLastTenantId();
  // A ref instead of the state: a second submit can come before the next render and would start an unused session.
  const running = useRef(false);
  const submit = async ({ tenantId, username, password }: Credentials) => {
    if (running.current) return;
    running.current = true;
    setSubmitting(true);
    setError(undefined);
    try {
      await logIn({ tenantId: tenantId.trim(), username: username.trim(), password });
    } catch (loginError) {
      running.current = false;
      setError(loginError);
      setSubmitting(false);
      passwordInput.current?.focus({ cursor: 'all' });
    }
  };
  return (
    <Form
      form={form}
      layout="vertical"
      size="large"
      requiredMark={false}
      initialValues={{ tenantId: lastTenantId }}
      onFinish={submit}
    >
      {error !== undefined && (
        <Alert type="error" showIcon title={getErrorMessage(error)} role="alert" className="margin-bottom" />
      )}
      <Form.Item
        name="tenantId"
        label={t.tenant}
        rules={[{ required: true, whitespace: true, message: t.tenantRequired }]}
      >
        <Input autoFocus={!lastTenantId} autoComplete="organization" inputMode="numeric" maxLength={18} />
      </Form.Item>
      <Form.Item name="username" label={t.user} rules={[{ required: true, whitespace: true, message: t.userRequired }]}>
        <Input
          autoFocus={!!lastTenantId}
          autoComplete="username"
          autoCapitalize="none"
          spellCheck={false}
          maxLength={50}
        />
      </Form.Item>
      <Form.Item name="password" label={t.password} rules={[{ required: true, message: t.passwordRequired }]}>
        <Input.Password ref={passwordInput} autoComplete="current-password" maxLength={128} />
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={submitting}>
        {t.logIn}
      </Button>
    </Form>
  );
}

function LanguageButton() {
  const language = useLanguage();
  const other = language === 'zh' ? 'en' : 'zh';
  return (
    <Button
      type="text"
      icon={<GlobalOutlined />}
      lang={other === 'zh' ? 'zh-CN' : 'en'}
      onClick={() => setLanguage(other)}
    >
      {other === 'zh' ? '中文' : 'English'}
    </Button>
  );
}
