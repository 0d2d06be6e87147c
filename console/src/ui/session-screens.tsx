import { Navigate, useLocation } from 'react-router';
import { lazyComponent } from '../lazy-component.ts';
import { useSession } from '../session.ts';
import { Loading } from './states.tsx';

const AppLayout = lazyComponent(() => import('./app-layout.tsx'));

/** Every screen except the login. The layout is loaded once there is a session, so that the login does not wait for it. */
export function SessionScreens() {
  const session = useSession();
  const { pathname, search } = useLocation();
  if (session.state === 'restoring') return <Loading />;
  if ('me' in session) return <AppLayout />;
  const target = pathname + search;
  const isLoggedOutByUser = session.state === 'loggedOut' && session.byUser;
  const login = isLoggedOutByUser || target === '/' ? '/login' : `/login?to=${encodeURIComponent(target)}`;
  return <Navigate to={login} replace />;
}
