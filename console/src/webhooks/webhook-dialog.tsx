import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { formQuery } from '../ui/form-query.ts';
import { NewSecret } from '../ui/new-secret.tsx';
import { LoadError, Loading } from '../ui/states.tsx';
import { useFormDialog } from '../ui/use-form-dialog.ts';
import { useLastValue } from '../ui/use-last-value.ts';
import { useUrlParams } from '../ui/use-url-params.ts';
import { webhookFormTexts } from './texts.ts';
import { WebhookForm } from './webhook-form.tsx';
import { getWebhookName } from './webhook-values.ts';

/** The webhook whose form is open, from the URL. */
export function useWebhookForm() {
  const [params, update] = useUrlParams();
  const text = params.get('form') ?? '';
  const webhook: 'new' | number | null = text === 'new' ? text : /^\d{1,15}$/.test(text) ? Number(text) : null;
  return {
    webhook,
    open: (form: 'new' | number) => update({ form }),
    close: () => update({ form: null }, { replace: true }),
  };
}

/** Creates or edits a webhook. After one was created, it shows the secret, which cannot be read again. */
export function WebhookDialog() {
  const t = useTexts(webhookFormTexts);
  const { webhook, close } = useWebhookForm();
  const lastWebhook = useLastValue(webhook);
  const id = typeof lastWebhook === 'number' ? lastWebhook : null;
  const [created, setCreated] = useState<{ name: string; secret: string }>();
  const { handle, cancel } = useFormDialog(close);
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.forms.webhook(id),
    queryFn: ({ signal }) => api.readWebhook(id as number, signal),
    enabled: webhook !== null && id !== null,
    ...formQuery,
  });
  const title = created
    ? t.secretTitle(created.name)
    : id === null
      ? t.createTitle
      : data
        ? t.editTitle(getWebhookName(data.data))
        : t.edit;
  return (
    <Dialog
      open={webhook !== null}
      title={title}
      width={640}
      footer={null}
      mask={{ closable: false }}
      // An accidental Escape must not discard a secret that cannot be shown again.
      keyboard={!created}
      onCancel={cancel}
      afterClose={() => setCreated(undefined)}
      destroyOnHidden
    >
      {created ? (
        <NewSecret label={t.secret} value={created.secret} onClose={close}>
          <p className="secondary">{t.secretHint}</p>
        </NewSecret>
      ) : error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : id !== null && !data ? (
        <Loading />
      ) : (
        <WebhookForm
          key={id ?? 'new'}
          original={id === null ? undefined : data}
          handle={handle}
          onCancel={cancel}
          onSaved={(secret) => (secret ? setCreated(secret) : close())}
        />
      )}
    </Dialog>
  );
}
