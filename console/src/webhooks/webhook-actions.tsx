import { DownOutlined, MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown, type MenuProps } from 'antd';
import { useRef, useState } from 'react';
import { useLocation, useNavigate } from 'react-router';
import { api, type Webhook } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { sessionGuard } from '../session.ts';
import { openFromMenu } from '../ui/open-from-menu.ts';
import { restoreFocus } from '../ui/restore-focus.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { RotateDialog } from './rotate-dialog.tsx';
import { webhooksTexts } from './texts.ts';
import { getWebhookName, toFormValues, toInput } from './webhook-values.ts';

interface Props {
  webhook: Webhook;
  /** An icon button for table rows. Its menu also has the deliveries and the test message. */
  compact?: boolean;
}

export function WebhookActions({ webhook, compact = false }: Props) {
  const t = useTexts(webhooksTexts);
  const navigate = useNavigate();
  const dialogs = useDialogs();
  const button = useRef<HTMLButtonElement>(null);
  // The menu item that opened the dialog is no longer in the page, so return the focus to the menu button.
  const returnFocus = () => restoreFocus(button.current);
  const [rotating, setRotating] = useState(false);
  const test = useTestWebhook(webhook);
  const setStatus = useSetStatus(webhook);
  const deletion = useDeleteWebhook(webhook);
  const name = getWebhookName(webhook);
  const isEnabled = webhook.status === '0';
  const confirmDisable = () =>
    dialogs.confirm({
      title: t.disableTitle(name),
      content: t.disableHint,
      okText: t.disable,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      afterClose: returnFocus,
      onOk: () => setStatus.mutateAsync('1').catch(() => undefined),
    });
  const confirmDelete = () =>
    dialogs.confirm({
      title: t.deleteTitle(name),
      content: t.deleteHint,
      okText: t.delete,
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      afterClose: returnFocus,
      onOk: () => deletion.mutateAsync().catch(() => undefined),
    });
  const items: MenuProps['items'] = [
    ...(compact
      ? [
          { key: 'deliveries', label: t.deliveries, onClick: () => navigate(`/webhooks/${webhook.id}`) },
          { key: 'test', label: t.test, disabled: !isEnabled, onClick: () => test.mutate() },
        ]
      : []),
    { key: 'rotate', label: t.rotate, onClick: openFromMenu(() => setRotating(true)) },
    isEnabled
      ? { key: 'disable', label: t.disable, onClick: openFromMenu(confirmDisable) }
      : { key: 'enable', label: t.enable, onClick: () => setStatus.mutate('0') },
    { type: 'divider' },
    { key: 'delete', label: t.delete, danger: true, onClick: openFromMenu(confirmDelete) },
  ];
  const isPending = test.isPending || setStatus.isPending || deletion.isPending;
  return (
    <>
      <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
        {compact ? (
          <Button
            ref={button}
            type="text"
            size="small"
            loading={isPending}
            icon={<MoreOutlined />}
            aria-label={t.moreOf(name)}
            aria-haspopup="menu"
          />
        ) : (
          <Button ref={button} loading={isPending} aria-label={t.moreOf(name)} aria-haspopup="menu">
            {t.more} <DownOutlined />
          </Button>
        )}
      </Dropdown>
      {rotating && (
        <RotateDialog
          webhook={webhook}
          onClose={() => {
            setRotating(false);
            returnFocus();
          }}
        />
      )}
    </>
  );
}

/** Sends a test message and opens the deliveries, which show the result. */
export function useTestWebhook({ id }: Webhook) {
  const t = useTexts(webhooksTexts);
  const navigate = useNavigate();
  const { pathname } = useLocation();
  const isMounted = useIsMounted();
  const path = `/webhooks/${id}`;
  return useApiMutation({
    mutationFn: () => api.testWebhook(id),
    successMessage: t.tested,
    invalidates: affectedBy.webhooks,
    onSuccess: () => {
      if (isMounted() && pathname !== path) navigate(path);
    },
  });
}

/** Applies the status to the current record, so that concurrent changes of other fields are kept. */
function useSetStatus({ id }: Webhook) {
  const t = useTexts(webhooksTexts);
  return useApiMutation({
    mutationFn: async (status: '0' | '1') => {
      const assertSameSession = sessionGuard();
      for (;;) {
        assertSameSession();
        const current = await api.readWebhook(id);
        try {
          return await api.updateWebhook({ ...toInput(toFormValues(current)), id, status }, current.etag);
        } catch (error) {
          if (!isApiError(error, 'CHANGED_MEANWHILE')) throw error;
        }
      }
    },
    successMessage: (_, status) => (status === '0' ? t.enabledMessage : t.disabledMessage),
    invalidates: affectedBy.webhooks,
  });
}

function useDeleteWebhook({ id }: Webhook) {
  const t = useTexts(webhooksTexts);
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  return useApiMutation({
    mutationFn: () => api.deleteWebhook(id),
    successMessage: t.deleted,
    // Without the details: the screen of a deleted webhook would refetch it before it closes.
    invalidates: [queryKeys.webhooks.list],
    onSuccess: () => isMounted() && navigate('/webhooks'),
  });
}
