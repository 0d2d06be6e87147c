import { useTexts } from '../language.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { tenantsTexts } from './texts.ts';

export default function Tenants() {
  const t = useTexts(tenantsTexts);
  return <PageTitle title={t.title} />;
}
