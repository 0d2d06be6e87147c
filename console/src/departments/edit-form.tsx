import { Button, Form } from 'antd';
import type { KeyboardEvent } from 'react';
import { api, type Dept } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import type { Versioned } from '../request.ts';
import { useConflictDialog } from '../ui/conflict-dialog.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { isSameInput } from '../ui/record-diff.ts';
import { uiTexts } from '../ui/texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useConfirmDiscard } from '../ui/use-confirm-discard.ts';
import { useFormBase } from '../ui/use-form-base.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { useNotify } from '../ui/use-notify.ts';
import {
  DepartmentFields,
  type DepartmentValues,
  showFieldError,
  toFormValues as toDepartmentValues,
  toInput,
  useDepartmentLabels,
} from './department-fields.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  /** The department as it was when editing started. */
  original: Versioned<Dept>;
  onClose: () => void;
  onSaved: (dept: Dept) => void;
}

type FormValues = DepartmentValues & { etag: string };

const toFormValues = ({ data, etag }: Versioned<Dept>): FormValues => ({ ...toDepartmentValues(data), etag });

/**
 * Saves without the parent, so that a concurrent move is not undone. The ETag is a value of the form: a restored draft
 * is then still saved against the version that it is based on.
 */
export function EditForm({ original, onClose, onSaved }: Props) {
  const t = useTexts(departmentsTexts);
  const { nothingChanged } = useTexts(uiTexts);
  const labels = useDepartmentLabels();
  const confirmDiscard = useConfirmDiscard();
  const notify = useNotify();
  const [form] = Form.useForm<FormValues>();
  const draft = useDraft(`dept-${original.data.deptId}`, form);
  const { base, showTheirs } = useFormBase<Dept, FormValues>({
    initialValues: toFormValues(original),
    form,
    draft,
    toFormValues,
  });
  const saveOrResolve = useConflictDialog();
  const isMounted = useIsMounted();
  const { deptId } = original.data;
  const save = useApiMutation({
    mutationFn: (values: DepartmentValues) =>
      saveOrResolve<Dept>({
        etag: form.getFieldValue('etag'),
        save: (ifMatch) => api.updateDepartment({ ...toInput(values), deptId }, ifMatch),
        read: () => api.readDepartment(deptId),
        showTheirs,
        getConflicts: (theirs) => compareValues(toDepartmentValues(theirs), values),
      }),
    successMessage: (outcome) => (outcome === 'saved' ? t.saved : undefined),
    onSuccess: (outcome) => {
      if (outcome !== 'saved') return;
      draft.clear();
      onSaved(original.data);
      // The user may have opened another department in the meantime.
      if (isMounted()) onClose();
    },
    invalidates: affectedBy.departments,
    onError: (error) => showFieldError(form, labels, error),
  });
  const format = (name: keyof typeof labels, values: DepartmentValues) => {
    if (name === 'status') return values.status === '1' ? t.disabled : t.normal;
    // A linked user is not the same as free text with the same name.
    if (name === 'leader' && values.leaderId !== null) return t.userLabel(values.leader, values.leaderId);
    return String(values[name] ?? '');
  };
  function compareValues(theirs: DepartmentValues, mine: DepartmentValues) {
    return (Object.keys(labels) as (keyof typeof labels)[])
      .filter((name) => format(name, theirs) !== format(name, mine))
      .map((name) => ({ field: labels[name], theirs: format(name, theirs), mine: format(name, mine) }));
  }
  const discard = () => {
    draft.clear();
    onClose();
  };
  const submit = (values: DepartmentValues) => {
    const { etag: _, ...baseValues } = base;
    if (!isSameInput(toInput(baseValues), toInput(values))) return save.mutate(values);
    notify.success(nothingChanged);
    discard();
  };
  const cancel = () => {
    if (compareValues(base, form.getFieldsValue()).length === 0) return discard();
    confirmDiscard(discard);
  };
  const handleKeyDown = (event: KeyboardEvent) => {
    // Escape first closes the list of suggestions of a field.
    const hasSuggestions = (event.target as Element).getAttribute('aria-expanded') === 'true';
    if (event.key !== 'Escape' || event.nativeEvent.isComposing || hasSuggestions || save.isPending) return;
    // Otherwise the same key press would close the confirmation that this may open.
    event.stopPropagation();
    cancel();
  };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={base}
      onFinish={submit}
      onValuesChange={draft.onValuesChange}
      onKeyDown={handleKeyDown}
      aria-label={t.editTitle(original.data.deptName)}
    >
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          draft.clear();
          form.setFieldsValue(base);
        }}
      />
      <DepartmentFields />
      <div className="form-actions">
        <Button onClick={cancel} disabled={save.isPending}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={save.isPending}>
          {t.save}
        </Button>
      </div>
    </Form>
  );
}
