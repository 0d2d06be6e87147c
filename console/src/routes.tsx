import { type ReactNode, Suspense } from 'react';
import { createBrowserRouter, Navigate } from 'react-router';
import { lazyScreen } from './lazy-screen.ts';
import { SessionScreens } from './ui/session-screens.tsx';
import { Loading, ScreenError } from './ui/states.tsx';

const Login = lazyScreen(() => import('./login/login.tsx'));
const Home = lazyScreen(() => import('./home/home.tsx'));
const Departments = lazyScreen(() => import('./departments/departments.tsx'));
const Chart = lazyScreen(() => import('./chart/chart.tsx'));
const Tenants = lazyScreen(() => import('./tenants/tenants.tsx'));
const People = lazyScreen(() => import('./people/people.tsx'));
const Person = lazyScreen(() => import('./people/person.tsx'));
const Changes = lazyScreen(() => import('./changes/changes.tsx'));
const Deleted = lazyScreen(() => import('./deleted/deleted.tsx'));
const Diff = lazyScreen(() => import('./changes/diff.tsx'));
const PastTree = lazyScreen(() => import('./changes/past-tree.tsx'));
const Webhooks = lazyScreen(() => import('./webhooks/webhooks.tsx'));
const Keys = lazyScreen(() => import('./keys/keys.tsx'));
const Quotas = lazyScreen(() => import('./quotas/quotas.tsx'));
const Import = lazyScreen(() => import('./import/import.tsx'));
const NotFound = lazyScreen(() => import('./ui/not-found.tsx'));
const Me = lazyScreen(() => import('./me/me.tsx'));

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
