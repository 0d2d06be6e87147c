import { DownloadOutlined, UndoOutlined } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import { useState } from 'react';
import { api, type ImportResult } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { Card } from '../ui/card.tsx';
import { LeaveGuard } from '../ui/leave-guard.tsx';
import { leaveTexts } from '../ui/leave-texts.ts';
import { saveFile } from '../ui/save-file.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useDialogs } from '../ui/use-dialogs.ts';
import { Counts } from './counts.tsx';
import { importTexts } from './texts.ts';

interface Props {
  result: ImportResult;
  tenantId: string | undefined;
  onAnother: () => void;
}

/** What an import has done, the initial passwords once, and a button to undo all of it. */
export function Result({ result, tenantId, onAnother }: Props) {
  const t = useTexts(importTexts);
  const { leave, stay } = useTexts(leaveTexts);
  const dialogs = useDialogs();
  const [saved, setSaved] = useState(false);
  const [undone, setUndone] = useState(false);
  const { changeId, passwords = [] } = result;
  const undo = useApiMutation({
    mutationFn: () => api.revertChange(changeId as number, { tenantId }),
    successMessage: t.undone,
    invalidates: affectedBy.revert,
    onSuccess: () => setUndone(true),
  });
  const save = () => {
    const rows = passwords.map(({ userName, password }) => [userName, password]);
    saveFile(toCsv([[t.userName, t.password], ...rows]), `${t.passwordsFile}.csv`);
    setSaved(true);
  };
  const losesPasswords = passwords.length > 0 && !saved && !undone;
  const confirmAnother = () =>
    void dialogs.confirm({
      title: t.leavePasswords,
      content: t.leavePasswordsHint,
      okText: leave,
      okButtonProps: { danger: true },
      cancelText: stay,
      onOk: onAnother,
    });
  return (
    <Card aria-label={t.done}>
      <Alert
        type={undone ? 'info' : 'success'}
        showIcon
        role="status"
        title={undone ? t.undone : t.done}
        description={undone ? undefined : <Counts counts={result} />}
        className="margin-bottom"
      />
      {passwords.length > 0 && !undone && (
        <>
          {losesPasswords && <LeaveGuard title={t.leavePasswords} hint={t.leavePasswordsHint} />}
          <Alert
            type="warning"
            showIcon
            title={t.passwordsTitle(passwords.length)}
            description={t.passwordsHint}
            className="margin-bottom"
            action={
              <Button icon={<DownloadOutlined />} onClick={save}>
                {t.downloadPasswords}
              </Button>
            }
          />
        </>
      )}
      <div className="form-actions">
        {changeId !== null && !undone && (
          <Button danger icon={<UndoOutlined />} loading={undo.isPending} onClick={() => undo.mutate()}>
            {t.undo}
          </Button>
        )}
        <Button type="primary" onClick={losesPasswords ? confirmAnother : onAnother}>
          {t.another}
        </Button>
      </div>
    </Card>
  );
}

/** A CSV file that spreadsheet programs open as UTF-8. All cells are in quotes. */
const toCsv = (rows: readonly (readonly string[])[]): Blob =>
  new Blob([`\ufeff${rows.map((cells) => cells.map(toCell).join(',')).join('\r\n')}\r\n`], {
    type: 'text/csv;charset=utf-8',
  });

/** An apostrophe makes spreadsheet programs read as text what they would take for a formula, such as the user name `=1+1`. */
const toCell = (text: string): string => `"${text.replace(/^[=+\-@]/, "'$&").replaceAll('"', '""')}"`;
