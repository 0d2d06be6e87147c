import { Button, Form, Modal } from 'antd';
import { type KeyboardEvent, useRef } from 'react';
import { api } from '../api.ts';
import { ApiRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { useDialogs } from '../ui/dialogs.ts';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { CHANGED } from './changed.ts';
import { bodyOf, DeptFields, type DeptValues } from './fields.tsx';
import { departmentsTexts } from './texts.ts';
import { TOP } from './tree-store.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  parent: { deptId: number; deptName: string };
  made: (id: number, parentId: number, another: boolean) => void;
}

/** Behind the others unless somebody says where. */
type NewDept = Omit<DeptValues, 'orderNum'> & { orderNum: number | null };

const BLANK: NewDept = { deptName: '', leader: '', phone: '', email: '', orderNum: null, status: '0' };

export function CreateDialog({ parent, made, open, close, gone }: Props) {
  const t = useTexts(departmentsTexts);
  const dialogs = useDialogs();
  const [form] = Form.useForm<NewDept>();
  const draft = useDraft(`dept-new-${parent.deptId}`, form);
  const another = useRef(false);
  const create = useAction({
    run: async ({ orderNum, ...values }: NewDept) => {
      const body = bodyOf({ ...values, orderNum: orderNum ?? (await readNextOrder(parent.deptId)) });
      return Number(await api.createDepartment({ ...body, parentId: parent.deptId }));
    },
    done: (_, { deptName }) => t.created(deptName.trim()),
    changes: CHANGED,
    after: (id) => {
      draft.clear();
      if (another.current) {
        form.setFieldsValue(BLANK);
        form.getFieldInstance('deptName')?.focus();
      } else close();
      made(id, parent.deptId, another.current);
    },
    refused: (error) => {
      const field = error instanceof ApiRefusal && error.reason === 'INVALID_FIELD' && error.data.field;
      if (!field || !(String(field) in BLANK)) return false;
      form.setFields([{ name: field as keyof NewDept, errors: [(error as ApiRefusal).message] }]);
      return true;
    },
  });
  const leave = () => {
    // It cannot be called back: whoever left would not know that it was made.
    if (create.busy) return;
    const values = form.getFieldsValue();
    const typed = (['deptName', 'leader', 'phone', 'email'] as const).some((name) => values[name]?.trim());
    const drop = () => {
      draft.clear();
      close();
    };
    if (!typed) return drop();
    dialogs.confirm({
      title: t.discardTitle,
      content: t.discardHint,
      okText: t.discard,
      okButtonProps: { danger: true },
      cancelText: t.keepTyping,
      onOk: drop,
    });
  };
  const submit = (andAnother: boolean) => {
    if (!open || create.busy) return;
    another.current = andAnother;
    form.submit();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || (event.target as HTMLElement).tagName !== 'INPUT') return;
    // Held since the dialog was opened, or for what an input method proposes.
    if (!event.repeat && !event.nativeEvent.isComposing) submit(false);
  };
  return (
    <Modal
      open={open}
      title={parent.deptId === TOP ? t.createTop : t.createTitle(parent.deptName)}
      onCancel={leave}
      afterClose={gone}
      afterOpenChange={(isOpen) => isOpen && form.getFieldInstance('deptName')?.focus()}
      mask={{ closable: false }}
      footer={
        <div className="actions">
          <Button onClick={leave} disabled={create.busy}>
            {t.cancel}
          </Button>
          <Button onClick={() => submit(true)} disabled={create.busy}>
            {t.createAndNext}
          </Button>
          <Button type="primary" onClick={() => submit(false)} loading={create.busy}>
            {t.save}
          </Button>
        </div>
      }
    >
      <Form
        form={form}
        layout="vertical"
        initialValues={BLANK}
        onFinish={create.start}
        onValuesChange={draft.onValuesChange}
        onKeyDown={onKeyDown}
      >
        <DraftNotice
          restored={draft.restored}
          discard={() => {
            draft.clear();
            form.resetFields();
          }}
        />
        <DeptFields withoutOrder={t.orderLast} />
      </Form>
    </Modal>
  );
}

/** The number behind that of the last child. */
async function readNextOrder(parentId: number): Promise<number> {
  const { data } = await api.listDepartments({
    parentId: String(parentId),
    sort: '-orderNum',
    pageSize: 1,
    cursor: '',
  });
  return Math.min((data.rows[0]?.orderNum ?? 0) + 1, 2147483647);
}
