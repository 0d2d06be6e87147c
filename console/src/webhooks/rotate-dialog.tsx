import { Alert } from 'antd';
import { useState } from 'react';
import { api, type Webhook } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { formatDateTime } from '../ui/change-summary.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { NewSecret } from '../ui/new-secret.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { webhookFormTexts, webhooksTexts } from './texts.ts';
import { getWebhookName } from './webhook-values.ts';

/** Replaces the secret after a warning and shows the new one, which cannot be read again. */
export function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const t = useTexts(webhooksTexts);
  const f = useTexts(webhookFormTexts);
  const [open, setOpen] = useState(true);
  const [secret, setSecret] = useState<string>();
  const close = () => setOpen(false);
  const rotate = useApiMutation({
    mutationFn: () => api.rotateWebhookSecret(webhook.id),
    invalidates: affectedBy.webhooks,
    onSuccess: (result) => setSecret(result.secret),
  });
  const name = getWebhookName(webhook);
  // Keep the value from when the dialog opened: after the rotation it refers to the secret that was just replaced.
  const [oldSecretUntil] = useState(webhook.oldSecretUntil);
  if (secret)
    return (
      <Dialog
        open={open}
        title={f.secretTitle(name)}
        width={640}
        footer={null}
        mask={{ closable: false }}
        // An accidental Escape must not discard a secret that cannot be shown again.
        keyboard={false}
        onCancel={close}
        afterClose={onClose}
      >
        <NewSecret label={f.secret} value={secret} onClose={close}>
          <p className="secondary">{t.rotateHint}</p>
        </NewSecret>
      </Dialog>
    );
  return (
    <Dialog
      open={open}
      title={t.rotateTitle(name)}
      okText={t.rotateConfirm}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: rotate.isPending }}
      confirmLoading={rotate.isPending}
      okButtonProps={{ danger: true }}
      onOk={() => rotate.mutate()}
      onCancel={close}
      afterClose={onClose}
    >
      <p>{t.rotateHint}</p>
      {oldSecretUntil && (
        <Alert
          type="warning"
          showIcon
          title={t.rotateAgainHint(formatDateTime(oldSecretUntil))}
          className="margin-bottom"
        />
      )}
    </Dialog>
  );
}
