import { Segmented } from 'antd';
import { Route, Routes } from 'react-router';
import { useTexts } from '../language.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import NotFound from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { OwnQuotas } from './own-quotas.tsx';
import { QuotaDetail } from './quota-detail.tsx';
import { QuotasBelow } from './quotas-below.tsx';
import { quotasTexts } from './texts.ts';
import './quotas.css';

/** /quotas, /quotas?view=below, /quotas/:quota; `?tenantId=` shows a quota of a tenant below. */
export default function Quotas() {
  const t = useTexts(quotasTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <Routes>
        <Route index element={<QuotaLists />} />
        <Route path=":quota" element={<QuotaDetail />} />
        <Route path="*" element={<NotFound />} />
      </Routes>
    </AdministratorsOnly>
  );
}

function QuotaLists() {
  const t = useTexts(quotasTexts);
  const [params, update] = useUrlParams();
  const view = params.get('view') === 'below' ? 'below' : 'own';
  return (
    <>
      <PageTitle title={t.title}>
        <Segmented<'own' | 'below'>
          aria-label={t.view}
          name="quotas-view"
          value={view}
          onChange={(next) => update({ view: next === 'own' ? null : next })}
          options={[
            { value: 'own', label: t.own },
            { value: 'below', label: t.below },
          ]}
        />
      </PageTitle>
      <p className="secondary quotas-intro">{view === 'own' ? t.intro : t.belowIntro}</p>
      {view === 'own' ? <OwnQuotas /> : <QuotasBelow />}
    </>
  );
}
