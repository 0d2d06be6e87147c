import { type ReactNode, Suspense } from 'react';
import { createBrowserRouter, Navigate } from 'react-router';
import { lazyComponent } from './lazy-component.ts';
import { SessionScreens } from './ui/session-screens.tsx';
import { Loading, ScreenError } from './ui/states.tsx';

const Login = lazyComponent(() => import('./login/login.tsx'));
const Home = lazyComponent(() => import('./home/home.tsx'));
const Departments = lazyComponent(() => import('./departments/departments.tsx'));
const Chart = lazyComponent(() => import('./chart/chart.tsx'));
const Tenants = lazyComponent(() => import('./tenants/tenants.tsx'));
const People = lazyComponent(() => import('./people/people.tsx'));
const Person = lazyComponent(() => import('./people/person.tsx'));
const Changes = lazyComponent(() => import('./changes/changes.tsx'));
const Deleted = lazyComponent(() => import('./deleted/deleted.tsx'));
const Diff = lazyComponent(() => import('./changes/diff.tsx'));
const PastTree = lazyComponent(() => import('./changes/past-tree.tsx'));
const Webhooks = lazyComponent(() => import('./webhooks/webhooks.tsx'));
const Keys = lazyComponent(() => import('./keys/keys.tsx'));
const Quotas = lazyComponent(() => import('./quotas/quotas.tsx'));
const Import = lazyComponent(() => import('./import/import.tsx'));
const NotFound = lazyComponent(() => import('./ui/not-found.tsx'));
const Me = lazyComponent(() => import('./me/me.tsx'));

const withSuspense = (element: ReactNode) => <Suspense fallback={<Loading />}>{element}</Suspense>;

export const router = createBrowserRouter([
  { path: '/login', element: withSuspense(<Login />), errorElement: <ScreenError /> },
  {
    path: '/',
    element: withSuspense(<SessionScreens />),
    errorElement: <ScreenError />,
    children: [
      { index: true, element: <Navigate to="/home" replace /> },
      {
        errorElement: <ScreenError />,
        children: [
          { path: 'home', element: <Home /> },
          { path: 'departments/:id?', element: <Departments /> },
          { path: 'chart/:id?', element: <Chart /> },
          { path: 'tenants/*', element: <Tenants /> },
          { path: 'people', element: <People /> },
          { path: 'people/:id', element: <Person /> },
          { path: 'changes', element: <Changes /> },
          { path: 'changes/diff', element: <Diff /> },
          { path: 'changes/tree', element: <PastTree /> },
          { path: 'deleted/:kind?', element: <Deleted /> },
          { path: 'webhooks/*', element: <Webhooks /> },
          { path: 'keys', element: <Keys /> },
          { path: 'quotas/*', element: <Quotas /> },
          { path: 'import/departments', element: <Import /> },
          { path: 'import/people', element: <Import /> },
          { path: 'me', element: <Me /> },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
