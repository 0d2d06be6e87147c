import type { ReactNode } from 'react';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import { PageTitle } from './page-title.tsx';
import { Empty } from './states.tsx';
import { uiTexts } from './texts.ts';

/** A screen for administrators. Other users see its title, and that they may not open it. */
export function AdministratorsOnly({ title, children }: { title: string; children: ReactNode }) {
  const t = useTexts(uiTexts);
  if (useIsAdministrator()) return children;
  return (
    <>
      <PageTitle title={title} />
      <Empty text={t.administratorsOnly} />
    </>
  );
}
