import { Button, Form } from 'antd';
import { useState } from 'react';
import { api, type Dept } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { ApiRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { useConflict } from '../ui/conflict.tsx';
import { useDialogs } from '../ui/dialogs.ts';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { useIsHere } from '../ui/is-here.ts';
import { useNotices } from '../ui/notices.ts';
import { CHANGED } from './changed.ts';
import { bodyOf, DeptFields, type DeptValues, valuesOf } from './fields.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  /** As it was when editing began. */
  from: Tagged<Dept>;
  close: () => void;
  saved: (dept: Dept) => void;
}

/**
 * In the place of what is shown. The place in the tree is not part of it: it stays while others move the branch. The tag
 * of the read is a value of the form, so that a draft that is put back later still knows what it was based on.
 */
export function EditForm({ from, close, saved }: Props) {
  const t = useTexts(departmentsTexts);
  const dialogs = useDialogs();
  const notices = useNotices();
  const [form] = Form.useForm<DeptValues & { etag: string }>();
  const [base, setBase] = useState(from);
  const draft = useDraft(`dept-${from.data.deptId}`, form);
  const saveOrAsk = useConflict();
  const isHere = useIsHere();
  const { deptId } = from.data;
  const save = useAction({
    run: (values: DeptValues) =>
      saveOrAsk<Dept>({
        etag: form.getFieldValue('etag'),
        save: (ifMatch) => api.updateDepartment({ ...bodyOf(values), deptId }, ifMatch),
        read: () => api.readDepartment(deptId),
        show: (theirs) => {
          setBase(theirs);
          draft.clear();
          form.setFieldsValue({ ...valuesOf(theirs.data), etag: theirs.etag });
        },
        differences: (theirs) => differences(valuesOf(theirs), values),
      }),
    after: (outcome) => {
      if (outcome !== 'saved') return;
      draft.clear();
      notices.done(t.saved);
      saved(from.data);
      // By now another department may be edited.
      if (isHere()) close();
    },
    changes: CHANGED,
    refused: (error) => {
      const field = error instanceof ApiRefusal && error.reason === 'INVALID_FIELD' && error.data.field;
      if (!field || !form.getFieldInstance(field as keyof DeptValues)) return false;
      form.setFields([{ name: field as keyof DeptValues, errors: [(error as ApiRefusal).message] }]);
      return true;
    },
  });
  const labels = {
    deptName: t.name,
    leader: t.leader,
    phone: t.phone,
    email: t.email,
    orderNum: t.order,
    status: t.status,
  };
  const shown = (name: keyof DeptValues, values: DeptValues) =>
    name === 'status' ? (values.status === '1' ? t.disabled : t.normal) : String(values[name] ?? '');
  function differences(theirs: DeptValues, mine: DeptValues) {
    return (Object.keys(labels) as (keyof DeptValues)[])
      .filter((name) => shown(name, theirs) !== shown(name, mine))
      .map((name) => ({ field: labels[name], theirs: shown(name, theirs), mine: shown(name, mine) }));
  }
  const leave = () => {
    const drop = () => {
      draft.clear();
      close();
    };
    if (differences(valuesOf(base.data), form.getFieldsValue()).length === 0) return drop();
    dialogs.confirm({
      title: t.discardTitle,
      content: t.discardHint,
      okText: t.discard,
      okButtonProps: { danger: true },
      cancelText: t.keepTyping,
      onOk: drop,
    });
  };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={{ ...valuesOf(from.data), etag: from.etag }}
      onFinish={save.start}
      onValuesChange={draft.onValuesChange}
      aria-label={t.editTitle(from.data.deptName)}
    >
      <DraftNotice
        restored={draft.restored}
        discard={() => {
          draft.clear();
          form.setFieldsValue({ ...valuesOf(base.data), etag: base.etag });
        }}
      />
      <DeptFields />
      <div className="actions">
        <Button onClick={leave} disabled={save.busy}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={save.busy}>
          {t.save}
        </Button>
      </div>
    </Form>
  );
}
