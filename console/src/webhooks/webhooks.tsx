import { Route, Routes } from 'react-router';
import { useTexts } from '../language.ts';
import { AdministratorsOnly } from '../ui/administrators-only.tsx';
import NotFound from '../ui/not-found.tsx';
import { webhooksTexts } from './texts.ts';
import { WebhookDetail } from './webhook-detail.tsx';
import { WebhookDialog } from './webhook-dialog.tsx';
import { WebhookList } from './webhook-list.tsx';
import './webhooks.css';

/** /webhooks, /webhooks/:id; `?form=` opens the form on either. */
export default function Webhooks() {
  const t = useTexts(webhooksTexts);
  return (
    <AdministratorsOnly title={t.title}>
      <Routes>
        <Route index element={<WebhookList />} />
        <Route path=":id" element={<WebhookDetail />} />
        <Route path="*" element={<NotFound />} />
      </Routes>
      <WebhookDialog />
    </AdministratorsOnly>
  );
}
