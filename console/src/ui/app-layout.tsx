import {
  ApartmentOutlined,
  ApiOutlined,
  BankOutlined,
  DashboardOutlined,
  GlobalOutlined,
  HistoryOutlined,
  HomeOutlined,
  KeyOutlined,
  LogoutOutlined,
  NodeIndexOutlined,
  TeamOutlined,
  UserOutlined,
} from '@ant-design/icons';
import { App, Button, Dropdown } from 'antd';
import { type ReactNode, Suspense, useRef, useState } from 'react';
import { NavLink, Outlet, useNavigate } from 'react-router';
import { setLanguage, useLanguage, useTexts } from '../language.ts';
import { logOut, useIsAdministrator, useMe } from '../session.ts';
import logo from './banyan.svg';
import { SearchButton } from './search/search-button.tsx';
import { SessionExpiredDialog } from './session-expired-dialog.tsx';
import { Loading } from './states.tsx';
import { uiTexts } from './texts.ts';
import { useLiveUpdates } from './use-live-updates.ts';
import { useNotify } from './use-notify.ts';

/** The layout of every screen except the login: header, navigation and content. */
export default function AppLayout() {
  const { tenantId, userId } = useMe().user;
  const t = useTexts(uiTexts);
  useLiveUpdates();
  return (
    // The key discards open dialogs and notifications when the user changes: they must not act for the next user.
    <App component={false} key={`${tenantId}/${userId}`}>
      <div className="frame">
        <a className="skip-link" href="#content">
          {t.skipToContent}
        </a>
        <Header />
        <Navigation />
        <main id="content" tabIndex={-1}>
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
        <SessionExpiredDialog />
      </div>
    </App>
  );
}

/** The screens for administrators that are opened less often. */
const getAdministratorScreens = (t: Record<'quotas' | 'changes' | 'webhooks' | 'keys', string>) => [
  { to: '/quotas', icon: <DashboardOutlined />, name: t.quotas },
  { to: '/changes', icon: <HistoryOutlined />, name: t.changes },
  { to: '/webhooks', icon: <ApiOutlined />, name: t.webhooks },
  { to: '/keys', icon: <KeyOutlined />, name: t.keys },
];

function Header() {
  const t = useTexts(uiTexts);
  const { user, tenant } = useMe();
  const administrator = useIsAdministrator();
  const language = useLanguage();
  const navigate = useNavigate();
  const notify = useNotify();
  const name = user.nickName || user.userName;
  const handleLogOut = () => logOut().catch(notify.error);
  const [open, setOpen] = useState(false);
  const menuButton = useRef<HTMLButtonElement>(null);
  const handleOpenChange = (next: boolean) => {
    setOpen(next);
    // Return the focus to the button if it was in the menu, but not after a click elsewhere.
    if (!next && document.activeElement?.closest('[role=menu]')) menuButton.current?.focus();
  };
  return (
    <header className="header">
      <NavLink to="/home" className="brand">
        <img src={logo} alt="" width={28} height={28} />
        <span>{t.product}</span>
      </NavLink>
      <span className="tenant-name" title={`${tenant.tenantName ?? ''} ${tenant.tenantId}`.trim()}>
        {tenant.tenantName || tenant.tenantId}
      </span>
      <SearchButton />
      <Button
        type="text"
        icon={<GlobalOutlined />}
        lang={language === 'zh' ? 'en' : 'zh-CN'}
        onClick={() => setLanguage(language === 'zh' ? 'en' : 'zh')}
      >
        {language === 'zh' ? 'English' : '中文'}
      </Button>
      <Dropdown
        trigger={['click']}
        open={open}
        onOpenChange={handleOpenChange}
        autoFocus
        menu={{
          items: [
            // On phones the navigation bar has no room for these.
            ...(administrator
              ? getAdministratorScreens(t).map(({ to, icon, name }) => ({
                  key: to,
                  className: 'phone-only',
                  icon,
                  label: name,
                  onClick: () => navigate(to),
                }))
              : []),
            { key: 'me', icon: <UserOutlined />, label: t.me, onClick: () => navigate('/me') },
            { type: 'divider' },
            { key: 'out', icon: <LogoutOutlined />, label: t.logOut, onClick: handleLogOut },
          ],
        }}
      >
        <Button
          ref={menuButton}
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
  const links: { to: string; icon: ReactNode; name: string; desktopOnly?: boolean }[] = [
    { to: '/home', icon: <HomeOutlined />, name: t.home },
    { to: '/departments', icon: <ApartmentOutlined />, name: t.departments },
    { to: '/chart', icon: <NodeIndexOutlined />, name: t.chart },
    ...(administrator
      ? [
          { to: '/people', icon: <TeamOutlined />, name: t.people },
          { to: '/tenants', icon: <BankOutlined />, name: t.tenants },
          ...getAdministratorScreens(t).map((link) => ({ ...link, desktopOnly: true })),
        ]
      : []),
  ];
  return (
    <nav className="navigation" aria-label={t.menu}>
      {links.map(({ to, icon, name, desktopOnly }) => (
        <NavLink
          key={to}
          to={to}
          className={({ isActive }) => [isActive && 'active', desktopOnly && 'desktop-only'].filter(Boolean).join(' ')}
        >
          {icon}
          <span>{name}</span>
        </NavLink>
      ))}
    </nav>
  );
}
