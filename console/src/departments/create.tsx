import { useQuery } from '@tanstack/react-query';
import { Button, Form, Modal } from 'antd';
import { type KeyboardEvent, useEffect, useRef } from 'react';
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

const BLANK: DeptValues = { deptName: '', leader: '', phone: '', email: '', orderNum: 1, status: '0' };

export function CreateDialog({ parent, made, open, close, gone }: Props) {
  const t = useTexts(departmentsTexts);
  const dialogs = useDialogs();
  const [form] = Form.useForm<DeptValues>();
  const draft = useDraft(`dept-new-${parent.deptId}`, form);
  const another = useRef(false);
  const last = useLastOrder(parent.deptId);
  // Behind the others unless told; not once somebody has typed a number.
  useEffect(() => {
    if (last === undefined || draft.restored || form.isFieldTouched('orderNum')) return;
    form.setFieldValue('orderNum', last + 1);
  }, [last, form, draft.restored]);
  const create = useAction({
    run: async (values: DeptValues) =>
      Number(await api.createDepartment({ ...bodyOf(values), parentId: parent.deptId })),
    done: (_, { deptName }) => t.created(deptName.trim()),
    changes: CHANGED,
    after: (id, values) => {
      draft.clear();
      if (another.current) {
        form.setFieldsValue({ ...BLANK, orderNum: values.orderNum + 1 });
        form.getFieldInstance('deptName')?.focus();
      } else close();
      made(id, parent.deptId, another.current);
    },
    refused: (error) => {
      const field = error instanceof ApiRefusal && error.reason === 'INVALID_FIELD' && error.data.field;
      if (!field || !(String(field) in BLANK)) return false;
      form.setFields([{ name: field as keyof DeptValues, errors: [(error as ApiRefusal).message] }]);
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
        <DeptFields />
      </Form>
    </Modal>
  );
}

/** The number of the last child; undefined while it is read, 0 when there is none. */
function useLastOrder(parentId: number): number | undefined {
  const { data } = useQuery({
    queryKey: ['dept-list', { parentId, sort: '-orderNum', one: true }],
    queryFn: ({ signal }) =>
      api.listDepartments({ parentId: String(parentId), sort: '-orderNum', pageSize: 1, cursor: '' }, signal),
    staleTime: 0,
  });
  return data && Math.min(data.data.rows[0]?.orderNum ?? 0, 2147483646);
}
