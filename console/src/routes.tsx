import { lazy, type ReactNode, Suspense } from 'react';
import { createBrowserRouter, Navigate } from 'react-router';
import { Broken, Loading } from './ui/states.tsx';

const Frame = lazy(() => import('./ui/frame.tsx'));
const Login = lazy(() => import('./login/login.tsx'));
const Home = lazy(() => import('./home/home.tsx'));
const Departments = lazy(() => import('./departments/departments.tsx'));
const Chart = lazy(() => import('./chart/chart.tsx'));
const Tenants = lazy(() => import('./tenants/tenants.tsx'));
const People = lazy(() => import('./people/people.tsx'));
const Changes = lazy(() => import('./changes/changes.tsx'));
const Difference = lazy(() => import('./changes/difference.tsx'));
const NotFound = lazy(() => import('./ui/not-found.tsx'));
const Me = lazy(() => import('./me/me.tsx'));

const whole = (element: ReactNode) => <Suspense fallback={<Loading />}>{element}</Suspense>;

/** Each screen is its own file for the browser, fetched when it is first opened. */
export const router = createBrowserRouter([
  { path: '/login', element: whole(<Login />), errorElement: <Broken /> },
  {
    path: '/',
    element: whole(<Frame />),
    errorElement: <Broken />,
    children: [
      { index: true, element: <Navigate to="/home" replace /> },
      {
        errorElement: <Broken />,
        children: [
          { path: 'home', element: <Home /> },
          { path: 'departments/:id?', element: <Departments /> },
          { path: 'chart/:id?', element: <Chart /> },
          { path: 'tenants/*', element: <Tenants /> },
          { path: 'people/*', element: <People /> },
          { path: 'changes', element: <Changes /> },
          { path: 'changes/diff', element: <Difference /> },
          { path: 'me', element: <Me /> },
          { path: '*', element: <NotFound /> },
        ],
      },
    ],
  },
]);
