import { useTexts } from '../language.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { departmentsTexts } from './texts.ts';

export default function Departments() {
  const t = useTexts(departmentsTexts);
  return <PageTitle title={t.title} />;
}
