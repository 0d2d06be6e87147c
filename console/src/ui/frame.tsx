import {
  ApartmentOutlined,
  BankOutlined,
  GlobalOutlined,
  HistoryOutlined,
  HomeOutlined,
  LogoutOutlined,
  NodeIndexOutlined,
  TeamOutlined,
  UserOutlined,
} from '@ant-design/icons';
import { App, Button, Dropdown } from 'antd';
import { type ReactNode, Suspense, useRef, useState } from 'react';
import { Navigate, NavLink, Outlet, useLocation, useNavigate } from 'react-router';
import { chooseLanguage, useLanguage, useTexts } from '../language.ts';
import { logOut, useIsAdministrator, useMe, useSession } from '../session.ts';
import mark from './banyan.svg';
import { useNotices } from './notices.ts';
import { SessionDialog } from './session-dialog.tsx';
import { Loading } from './states.tsx';
import { uiTexts } from './texts.ts';

/** Around every screen but login: who one is, where one can go. */
export default function Frame() {
  const session = useSession();
  const { pathname, search } = useLocation();
  const t = useTexts(uiTexts);
  if (session.state === 'restoring') return <Loading />;
  if (session.state === 'out') {
    const here = pathname + search;
    return <Navigate to={session.left || here === '/' ? '/login' : `/login?to=${encodeURIComponent(here)}`} replace />;
  }
  const { tenantId, userId } = session.me.user;
  return (
    // One for each person: what is asked and said over the screens goes with him, and never acts as the next.
    <App component={false} key={`${tenantId}/${userId}`}>
      <div className="frame">
        <a className="skip" href="#content">
          {t.skip}
        </a>
        <Header />
        <Navigation />
        <main id="content" tabIndex={-1}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
        <SessionDialog />
      </div>
    </App>
  );
}

function Header() {
  const t = useTexts(uiTexts);
  const { user, tenant } = useMe();
  const administrator = useIsAdministrator();
  const language = useLanguage();
  const navigate = useNavigate();
  const notices = useNotices();
  const name = user.nickName || user.userName;
  const leave = () => logOut().catch(notices.failed);
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const openOrClose = (next: boolean) => {
    setOpen(next);
    // Who was in the menu is back where it began; who clicked elsewhere is there.
    if (!next && document.activeElement?.closest('[role=menu]')) button.current?.focus();
  };
  return (
    <header className="header">
      <NavLink to="/home" className="brand">
        <img src={mark} alt="" width={28} height={28} />
        <span>{t.product}</span>
      </NavLink>
      <span className="tenant" title={`${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim()}>
        {tenant.tenantName || tenant.tenantId}
      </span>
      <Button
        type="text"
        icon={<GlobalOutlined />}
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => chooseLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        {language === 'zh' ? 'English' : '中文'}
      </Button>
      <Dropdown
        trigger={['click']}
        open={open}
        onOpenChange={openOrClose}
        autoFocus
        menu={{
          items: [
            // A phone has no room for it below.
            ...(administrator
              ? [
                  {
                    key: 'changes',
                    className: 'on-phones',
                    icon: <HistoryOutlined />,
                    label: t.changes,
                    onClick: () => navigate('/changes'),
                  },
                ]
              : []),
            { key: 'me', icon: <UserOutlined />, label: t.me, onClick: () => navigate('/me') },
            { type: 'divider' },
            { key: 'out', icon: <LogoutOutlined />, label: t.logOut, onClick: leave },
          ],
        }}
      >
        <Button
          ref={button}
          type="text"
          icon={<UserOutlined />}
          aria-label={t.account(name)}
          aria-haspopup="menu"
          aria-expanded={open}
        >
          <span className="user-name" title={name}>
            {name}
          </span>
        </Button>
      </Dropdown>
    </header>
  );
}

function Navigation() {
  const t = useTexts(uiTexts);
  const administrator = useIsAdministrator();
  const places: { to: string; icon: ReactNode; name: string; wide?: boolean }[] = [
    { to: '/home', icon: <HomeOutlined />, name: t.home },
    { to: '/departments', icon: <ApartmentOutlined />, name: t.departments },
    { to: '/chart', icon: <NodeIndexOutlined />, name: t.chart },
    ...(administrator
      ? [
          { to: '/people', icon: <TeamOutlined />, name: t.people },
          { to: '/tenants', icon: <BankOutlined />, name: t.tenants },
          { to: '/changes', icon: <HistoryOutlined />, name: t.changes, wide: true },
        ]
      : []),
  ];
  return (
    <nav className="navigation" aria-label={t.menu}>
      {places.map(({ to, icon, name, wide }) => (
        <NavLink key={to} to={to} {...(wide ? { 'data-wide': true } : {})}>
          {icon}
          <span>{name}</span>
        </NavLink>
      ))}
    </nav>
  );
}
