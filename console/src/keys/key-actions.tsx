import { MoreOutlined } from '@ant-design/icons';
import { Button, Dropdown, type MenuProps } from 'antd';
import { useRef, useState } from 'react';
import { api, type Key } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { sessionGuard } from '../session.ts';
import { openFromMenu } from '../ui/open-from-menu.ts';
import { restoreFocus } from '../ui/restore-focus.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { toFormValues, toInput } from './key-values.ts';
import { RotateDialog } from './rotate-dialog.tsx';
import { keysTexts } from './texts.ts';

export function KeyActions({ apiKey, onEdit }: { apiKey: Key; onEdit: () => void }) {
  const t = useTexts(keysTexts);
  const dialogs = useDialogs();
  const button = useRef<HTMLButtonElement>(null);
  // The menu item that opened the dialog is no longer in the page, so return the focus to the menu button.
  const returnFocus = () => restoreFocus(button.current);
  const [rotating, setRotating] = useState(false);
  const { keyId, keyName: name, status } = apiKey;
  const setStatus = useSetStatus(keyId);
  const deletion = useApiMutation({
    mutationFn: () => api.deleteKey(keyId),
    successMessage: t.deleted,
    invalidates: affectedBy.keys,
  });
  const confirm = (action: 'disable' | 'delete', run: () => Promise<unknown>) =>
    dialogs.confirm({
      title: t[`${action}Title`](name),
      content: t[`${action}Hint`],
      okText: t[action],
      cancelText: t.cancel,
      okButtonProps: { danger: true },
      afterClose: returnFocus,
      onOk: () => run().catch(() => undefined),
    });
  const items: MenuProps['items'] = [
    { key: 'rotate', label: t.rotate, onClick: openFromMenu(() => setRotating(true)) },
    status === '0'
      ? {
          key: 'disable',
          label: t.disable,
          onClick: openFromMenu(() => confirm('disable', () => setStatus.mutateAsync('1'))),
        }
      : { key: 'enable', label: t.enable, onClick: () => setStatus.mutate('0') },
    { type: 'divider' },
    {
      key: 'delete',
      label: t.delete,
      danger: true,
      onClick: openFromMenu(() => confirm('delete', () => deletion.mutateAsync())),
    },
  ];
  return (
    <div className="row-actions">
      <Button type="link" size="small" onClick={onEdit} aria-label={t.editOf(name)}>
        {t.edit}
      </Button>
      <Dropdown autoFocus trigger={['click']} menu={{ items }} placement="bottomRight">
        <Button
          ref={button}
          type="text"
          size="small"
          loading={setStatus.isPending || deletion.isPending}
          icon={<MoreOutlined />}
          aria-label={t.moreOf(name)}
          aria-haspopup="menu"
        />
      </Dropdown>
      {rotating && (
        <RotateDialog
          apiKey={apiKey}
          onClose={() => {
            setRotating(false);
            returnFocus();
          }}
        />
      )}
    </div>
  );
}

/** Applies the status to the current record, so that concurrent changes of other fields are kept. */
function useSetStatus(keyId: number) {
  const t = useTexts(keysTexts);
  return useApiMutation({
    mutationFn: async (status: '0' | '1') => {
      const assertSameSession = sessionGuard();
      for (;;) {
        assertSameSession();
        const current = await api.readKey(keyId);
        try {
          return await api.updateKey({ ...toInput(toFormValues(current)), keyId, status }, current.etag);
        } catch (error) {
          if (!isApiError(error, 'CHANGED_MEANWHILE')) throw error;
        }
      }
    },
    successMessage: (_, status) => (status === '0' ? t.enabledMessage : t.disabledMessage),
    invalidates: affectedBy.keys,
  });
}
