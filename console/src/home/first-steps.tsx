import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { Panel } from '../ui/panel.tsx';
import { homeTexts } from './texts.ts';

/** Where there are no departments yet: what to do first. */
export function FirstSteps() {
  const t = useTexts(homeTexts);
  if (!useIsAdministrator())
    return (
      <Panel>
        <p className="quiet home-none">{t.firstMember}</p>
      </Panel>
    );
  const steps = [
    { to: '/departments', name: t.firstDepartment, hint: t.firstDepartmentHint },
    { to: '/people?person=new', name: t.firstPerson, hint: t.firstPersonHint },
    { to: '/tenants', name: t.firstTenant, hint: t.firstTenantHint },
  ];
  return (
    <Panel title={t.firstTitle}>
      <p className="quiet home-none">{t.firstHint}</p>
      <ol className="home-steps">
        {steps.map(({ to, name, hint }) => (
          <li key={to}>
            <Link to={to}>{name}</Link>
            <div className="quiet">{hint}</div>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
