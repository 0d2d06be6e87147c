import { useTexts } from '../language.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { peopleTexts } from './texts.ts';

export default function People() {
  const t = useTexts(peopleTexts);
  return <PageTitle title={t.title} />;
}
