import { GlobalOutlined } from '@ant-design/icons';
import { Alert, Button, Form, Input, type InputRef } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { Navigate, useSearchParams } from 'react-router';
import type { Login as Entered } from '../../../server/auth/schema.ts';
import { chooseLanguage, useLanguage, useTexts } from '../language.ts';
import { isAnother, logIn, tenantBefore, useSession } from '../session.ts';
import mark from '../ui/banyan.svg';
import { wordsFor } from '../ui/notices.ts';
import { Loading } from '../ui/states.tsx';
import { uiTexts } from '../ui/texts.ts';
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
  if (session.state !== 'out') return <Navigate to={isAnother() ? '/home' : within(search.get('to'))} replace />;
  return (
    <main className="login">
      <div className="login-card">
        <img src={mark} alt="" width={48} height={48} />
        <h1>{t.welcome}</h1>
        <p className="quiet">{t.slogan}</p>
        <LoginForm why={session.why} />
        <LanguageButton />
      </div>
    </main>
  );
}

/** A link to log in with leads nowhere but into the console. */
const within = (to: string | null) => (to && /^\/(?![/\\])/.test(to) ? to : '/home');

/** `why`: what shut him out who was logged in before, until he tries again. */
function LoginForm({ why }: { why: unknown }) {
  const t = useTexts(loginTexts);
  const [error, setError] = useState(why);
  const [busy, setBusy] = useState(false);
  const [form] = Form.useForm<Entered>();
  const password = useRef<InputRef>(null);
  const tenant = tenantBefore();
  // Not `busy`: a second press may come before the screen knows of the first, and would leave a session that nobody uses.
  const entering = useRef(false);
  const enter = async ({ tenantId, username, password: secret }: Entered) => {
    if (entering.current) return;
    entering.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await logIn({ tenantId: tenantId.trim(), username: username.trim(), password: secret });
    } catch (refusal) {
      entering.current = false;
      setError(refusal);
      setBusy(false);
      password.current?.focus({ cursor: 'all' });
    }
  };
  return (
    <Form
      form={form}
      layout="vertical"
      size="large"
      requiredMark={false}
      initialValues={{ tenantId: tenant }}
      onFinish={enter}
    >
      {error !== undefined && (
        <Alert type="error" showIcon title={wordsFor(error)} role="alert" className="gap-below" />
      )}
      <Form.Item
        name="tenantId"
        label={t.tenant}
        rules={[{ required: true, whitespace: true, message: t.tenantNeeded }]}
      >
        <Input autoFocus={!tenant} autoComplete="organization" inputMode="numeric" maxLength={18} />
      </Form.Item>
      <Form.Item name="username" label={t.user} rules={[{ required: true, whitespace: true, message: t.userNeeded }]}>
        <Input autoFocus={!!tenant} autoComplete="username" autoCapitalize="none" spellCheck={false} maxLength={50} />
      </Form.Item>
      <Form.Item name="password" label={t.password} rules={[{ required: true, message: t.passwordNeeded }]}>
        <Input.Password ref={password} autoComplete="current-password" maxLength={128} />
      </Form.Item>
      <Button type="primary" htmlType="submit" block loading={busy}>
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
      onClick={() => chooseLanguage(other)}
    >
      {other === 'zh' ? '中文' : 'English'}
    </Button>
  );
}
