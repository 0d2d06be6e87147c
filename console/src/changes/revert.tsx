import { UndoOutlined } from '@ant-design/icons';
import { Alert, Button, Modal } from 'antd';
import { useState } from 'react';
import { Link } from 'react-router';
import { type AuditEntry, api } from '../api.ts';
import { isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { ChangeLine } from '../ui/change.tsx';
import { wordsFor } from '../ui/notices.ts';
import { changesTexts } from './texts.ts';

/** A revert may touch anything: what was read before is read anew. */
const CHANGED = [
  ...[['changes'], ['dept'], ['dept-path'], ['dept-children'], ['dept-list'], ['dept-tree'], ['dept-users']],
  ...[['dept-diff'], ['user'], ['user-list'], ['tenant'], ['tenant-list'], ['tenant-tree'], ['overview']],
];

const REVERTIBLE = ['department', 'user', 'tenant'];

export function Revert({ change }: { change: AuditEntry }) {
  const t = useTexts(changesTexts);
  const own = useMe().tenant.tenantId;
  const [open, setOpen] = useState(false);
  const { id, tenantId, resource, resourceId } = change;
  const foreign = tenantId !== own;
  const revert = useAction({
    run: () => api.revertChange(id, foreign ? { tenantId } : {}),
    done: t.reverted,
    changes: CHANGED,
    after: () => setOpen(false),
    // Said in the dialog, beside what it is about.
    refused: () => true,
  });
  if (!REVERTIBLE.includes(resource) || change.action === 'password changed') return null;
  const close = () => {
    setOpen(false);
    revert.reset();
  };
  return (
    <>
      <Button size="small" icon={<UndoOutlined />} onClick={() => setOpen(true)}>
        {t.revert}
      </Button>
      <Modal
        open={open}
        title={t.revertTitle}
        okText={t.revertIt}
        cancelText={revert.error ? t.close : t.cancel}
        // It cannot be called back: while it is loading antd closes for nobody, and the button says so.
        cancelButtonProps={{ disabled: revert.busy }}
        confirmLoading={revert.busy}
        onOk={() => revert.start()}
        onCancel={close}
      >
        <ChangeLine change={change} />
        <p>{t.revertHint}</p>
        {revert.error != null && (
          <Alert type="error" showIcon role="alert" title={wordsFor(revert.error)} className="gap-below" />
        )}
        {isRefusal(revert.error, 'CHANGE_CONTRADICTED') && (
          <Link
            to={`/changes?resource=${resource}&resourceId=${resourceId}${foreign ? `&tenant=${tenantId}` : ''}`}
            onClick={close}
          >
            {t.laterChanges}
          </Link>
        )}
      </Modal>
    </>
  );
}
