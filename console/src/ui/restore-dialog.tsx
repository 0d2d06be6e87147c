import { Checkbox, Form } from 'antd';
import { useState } from 'react';
import type { Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { DepartmentPicker } from './department/department-picker.tsx';
import { ROOT_ID } from './department/tree-store.ts';
import { Dialog } from './dialog.tsx';
import { restoreTexts } from './restore-texts.ts';

interface Props {
  /** The deleted department. */
  name: string;
  /** Why it cannot return to its former parent. */
  reason: 'deleted' | 'disabled';
  /** False for a department of another tenant: the picker does not offer its departments, so it can only go to the top level. */
  ownTenant: boolean;
  open: boolean;
  isPending: boolean;
  onRestore: (parentId: number) => void;
  onClose: () => void;
  onClosed: () => void;
}

/** Asks for another parent of a deleted department. */
export default function RestoreDialog({ name, reason, ownTenant, isPending, onRestore, onClosed, ...props }: Props) {
  const t = useTexts(restoreTexts);
  const [selectedId, setSelectedId] = useState<number | null>(null);
  const [toTopLevel, setToTopLevel] = useState(!ownTenant);
  const parentId = toTopLevel ? ROOT_ID : selectedId;
  return (
    <Dialog
      open={props.open}
      title={t.title(name)}
      okText={t.restore}
      cancelText={t.cancel}
      okButtonProps={{ disabled: parentId === null }}
      // A running request cannot be cancelled. antd keeps the dialog open while it is loading.
      cancelButtonProps={{ disabled: isPending }}
      confirmLoading={isPending}
      onOk={() => parentId !== null && onRestore(parentId)}
      onCancel={props.onClose}
      afterClose={onClosed}
    >
      <p>{reason === 'deleted' ? t.parentDeleted : t.parentDisabled}</p>
      {ownTenant && <p>{reason === 'deleted' ? t.restoreParent : t.enableParent}</p>}
      {ownTenant ? (
        <Form layout="vertical" component="div">
          <Form.Item label={t.parent} htmlFor="restore-parent">
            <DepartmentPicker
              id="restore-parent"
              value={selectedId}
              disabled={toTopLevel}
              onChange={setSelectedId}
              getDisabledReason={({ status }: Dept) => (status === '1' ? t.disabled : undefined)}
            />
          </Form.Item>
          <Checkbox checked={toTopLevel} onChange={(event) => setToTopLevel(event.target.checked)}>
            {t.toTopLevel}
          </Checkbox>
        </Form>
      ) : (
        <p>{t.onlyTopLevel}</p>
      )}
    </Dialog>
  );
}
