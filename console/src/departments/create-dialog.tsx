import { Button, Form } from 'antd';
import { type KeyboardEvent, useRef } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { ROOT_ID } from '../ui/department/tree-store.ts';
import { Dialog } from '../ui/dialog.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useConfirmDiscard } from '../ui/use-confirm-discard.ts';
import {
  DepartmentFields,
  type DepartmentValues,
  MAX_ORDER,
  showFieldError,
  toInput,
  useDepartmentLabels,
} from './department-fields.tsx';
import { departmentsTexts } from './texts.ts';
import type { DialogProps } from './use-dialog.ts';

interface Props extends DialogProps {
  parent: { deptId: number; deptName: string };
  onCreated: (id: number, parentId: number, addAnother: boolean) => void;
}

/** Without an order number the department is placed last. */
type NewDept = Omit<DepartmentValues, 'orderNum'> & { orderNum: number | null };

const EMPTY_VALUES: NewDept = {
  deptName: '',
  leader: '',
  leaderId: null,
  phone: '',
  email: '',
  orderNum: null,
  status: '0',
};

export function CreateDialog({ parent, onCreated, open, onClose, onClosed }: Props) {
  const t = useTexts(departmentsTexts);
  const labels = useDepartmentLabels();
  const confirmDiscard = useConfirmDiscard();
  const [form] = Form.useForm<NewDept>();
  const draft = useDraft(`dept-new-${parent.deptId}`, form);
  const addAnother = useRef(false);
  const create = useApiMutation({
    mutationFn: async ({ orderNum, ...values }: NewDept) => {
      const body = toInput({ ...values, orderNum: orderNum ?? (await readNextOrder(parent.deptId)) });
      return Number(await api.createDepartment({ ...body, parentId: parent.deptId }));
    },
    successMessage: (_, { deptName }) => t.created(deptName.trim()),
    invalidates: affectedBy.departments,
    onSuccess: (id) => {
      draft.clear();
      if (addAnother.current) {
        form.setFieldsValue(EMPTY_VALUES);
        form.getFieldInstance('deptName')?.focus();
      } else onClose();
      onCreated(id, parent.deptId, addAnother.current);
    },
    onError: (error) => showFieldError(form, labels, error),
  });
  const cancel = () => {
    // The request cannot be cancelled, and the user would not learn that the department was created.
    if (create.isPending) return;
    const values = form.getFieldsValue();
    const hasInput = (['deptName', 'leader', 'phone', 'email'] as const).some((name) => values[name]?.trim());
    const discard = () => {
      draft.clear();
      onClose();
    };
    if (!hasInput) return discard();
    confirmDiscard(discard);
  };
  const submit = (andAddAnother: boolean) => {
    if (!open || create.isPending) return;
    addAnother.current = andAddAnother;
    form.submit();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || (event.target as HTMLElement).tagName !== 'INPUT') return;
    // Ignore a key that is still held from opening the dialog, and an Enter that confirms the text of an input method.
    if (!event.repeat && !event.nativeEvent.isComposing) submit(false);
  };
  return (
    <Dialog
      open={open}
      title={parent.deptId === ROOT_ID ? t.create : t.createTitle(parent.deptName)}
      onCancel={cancel}
      afterClose={onClosed}
      mask={{ closable: false }}
      footer={
        <div className="form-actions">
          <Button onClick={cancel} disabled={create.isPending}>
            {t.cancel}
          </Button>
          <Button onClick={() => submit(true)} disabled={create.isPending}>
            {t.createAndAddAnother}
          </Button>
          <Button type="primary" onClick={() => submit(false)} loading={create.isPending}>
            {t.createConfirm}
          </Button>
        </div>
      }
    >
      <Form
        form={form}
        layout="vertical"
        initialValues={EMPTY_VALUES}
        onFinish={create.mutate}
        onValuesChange={draft.onValuesChange}
        onKeyDown={onKeyDown}
      >
        <DraftNotice
          restored={draft.restored}
          onDiscard={() => {
            draft.clear();
            form.resetFields();
          }}
        />
        <DepartmentFields orderPlaceholder={t.orderLast} />
      </Form>
    </Dialog>
  );
}

/** The order number after that of the last child. */
async function readNextOrder(parentId: number): Promise<number> {
  const { data } = await api.listDepartments({
    parentId: String(parentId),
    sort: '-orderNum',
    pageSize: 1,
    cursor: '',
  });
  return Math.min((data.rows[0]?.orderNum ?? 0) + 1, MAX_ORDER);
}
