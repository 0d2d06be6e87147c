import { useTexts } from '../language.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { chartTexts } from './texts.ts';

export default function Chart() {
  const t = useTexts(chartTexts);
  return <PageTitle title={t.title} />;
}
