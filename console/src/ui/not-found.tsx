import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import { PageTitle } from './page-title.tsx';
import { uiTexts } from './texts.ts';

export default function NotFound() {
  const t = useTexts(uiTexts);
  return (
    <>
      <PageTitle title={t.notFound} />
      <Link to="/home">{t.toHome}</Link>
    </>
  );
}
