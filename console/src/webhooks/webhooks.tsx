import { Route, Routes } from 'react-router';
import { useTexts } from '../language.ts';
import { useIsAdministrator } from '../session.ts';
import NotFound from '../ui/not-found.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { AdministratorsOnly } from '../ui/states.tsx';
import { webhooksTexts } from './texts.ts';
import { WebhookDetail } from './webhook-detail.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookList } from './webhook-list.tsx';
import './webhooks.css';

/** /webhooks, /webhooks/:id; `?form=` opens the form on either. */
export default function Webhooks() {
  const t = useTexts(webhooksTexts);
  if (!useIsAdministrator())
    return (
      <>
        <PageTitle title={t.title} />
        <AdministratorsOnly>{null}</AdministratorsOnly>
      </>
    );
  return (
    <>
      <Routes>
        <Route index element={<WebhookList />} />
        <Route path=":id" element={<WebhookDetail />} />
        <Route path="*" element={<NotFound />} />
      </Routes>
      <WebhookDialog />
    </>
  );
}
