import { useTexts } from '../language.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { homeTexts } from './texts.ts';

export default function Home() {
  const t = useTexts(homeTexts);
  return <PageTitle title={t.title} />;
}
