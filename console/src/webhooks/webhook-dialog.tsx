import { api, type Webhook } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { NewSecret } from '../ui/new-secret.tsx';
import { RecordDialog } from '../ui/record-dialog.tsx';
import { useUrlParams } from '../ui/use-url-params.ts';
import { webhookFormTexts } from './texts.ts';
import { type CreatedWebhook, WebhookForm } from './webhook-form.tsx';
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

/** Creates or edits a webhook. After creating one, it shows the secret, which cannot be read again. */
export function WebhookDialog() {
  const t = useTexts(webhookFormTexts);
  const { webhook, close } = useWebhookForm();
  return (
    <RecordDialog<Webhook, CreatedWebhook>
      record={webhook}
      queryKey={queryKeys.forms.webhook}
      read={api.readWebhook}
      titles={{
        create: t.createTitle,
        edit: t.edit,
        editOf: (record) => t.editTitle(getWebhookName(record)),
        createdOf: ({ name }) => t.secretTitle(name),
      }}
      width={640}
      form={({ key, ...props }) => <WebhookForm key={key} {...props} />}
      created={({ secret }) => (
        <NewSecret label={t.secret} value={secret} onClose={close}>
          <p className="secondary">{t.secretHint}</p>
        </NewSecret>
      )}
      onClose={close}
    />
  );
}
