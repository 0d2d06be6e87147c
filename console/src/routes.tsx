import { type ReactNode, Suspense } from 'react';
import { createBrowserRouter, Navigate } from 'react-router';
import { screen } from './screen.ts';
import { Broken, Loading } from './ui/states.tsx';

const Frame = screen(() => import('./ui/frame.tsx'));
const Login = screen(() => import('./login/login.tsx'));
const Home = screen(() => import('./home/home.tsx'));
const Departments = screen(() => import('./departments/departments.tsx'));
const Chart = screen(() => import('./chart/chart.tsx'));
const Tenants = screen(() => import('./tenants/tenants.tsx'));
const People = screen(() => import('./people/people.tsx'));
const Changes = screen(() => import('./changes/changes.tsx'));
const Difference = screen(() => import('./changes/difference.tsx'));
const NotFound = screen(() => import('./ui/not-found.tsx'));
const Me = screen(() => import('./me/me.tsx'));

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
