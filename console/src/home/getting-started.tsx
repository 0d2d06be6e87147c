import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { homeTexts } from './texts.ts';

/** Shown while there are no departments. */
export function GettingStarted() {
  const t = useTexts(homeTexts);
  if (!useIsAdministrator())
    return (
      <Card>
        <p className="secondary home-hint">{t.noDepartmentsYet}</p>
      </Card>
    );
  const steps = [
    { to: '/departments', name: t.createDepartment, hint: t.createDepartmentHint },
    { to: '/people?person=new', name: t.createUsers, hint: t.createUsersHint },
    { to: '/tenants', name: t.createTenant, hint: t.createTenantHint },
  ];
  return (
    <Card title={t.gettingStarted}>
      <p className="secondary home-hint">{t.gettingStartedHint}</p>
      <ol className="home-steps">
        {steps.map(({ to, name, hint }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
            <div className="secondary">{hint}</div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
