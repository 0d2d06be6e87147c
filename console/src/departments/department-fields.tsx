import { Form, type FormInstance, Input, InputNumber, Radio } from 'antd';
import type { Dept, DeptInput } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { getFieldErrorText } from '../ui/field-error.ts';
import { usePhoneRule } from '../ui/phone-rule.ts';
import { LeaderHint, LeaderInput } from './leader-input.tsx';
import { departmentsTexts } from './texts.ts';

/** The largest value of a PostgreSQL integer. */
export const MAX_ORDER = 2147483647;

/** An update that omits `source` and `externalId` keeps them: they belong to another system. */
type EditableField = Exclude<keyof DeptInput, 'parentId' | 'tenantId' | 'source' | 'externalId' | 'leaderId'>;

/**
 * The values of the department forms. Empty fields are empty strings. The type is derived from the request body: an
 * update replaces the whole record, so a form without one of its fields must not compile.
 */
export type DepartmentValues = { [Field in EditableField]-?: NonNullable<DeptInput[Field]> } & {
  /** The id of the user who leads the department; null: `leader` is free text. */
  leaderId: number | null;
};

export const toFormValues = ({ deptName, leader, leaderId, ...dept }: Dept): DepartmentValues => ({
  deptName,
  leader: leader ?? '',
  leaderId,
  phone: dept.phone ?? '',
  email: dept.email ?? '',
  orderNum: dept.orderNum,
  status: dept.status,
});

/** Converts form values to the request body; empty fields become null. */
export const toInput = (values: DepartmentValues): Omit<DeptInput, 'parentId'> => ({
  ...values,
  deptName: values.deptName.trim(),
  leader: values.leader?.trim() || null,
  leaderId: values.leaderId ?? null,
  phone: values.phone?.trim() || null,
  email: values.email?.trim() || null,
});

export function useDepartmentLabels(): Record<Exclude<keyof DepartmentValues, 'leaderId'>, string> {
  const t = useTexts(departmentsTexts);
  return { deptName: t.name, leader: t.leader, phone: t.phone, email: t.email, orderNum: t.order, status: t.status };
}

/** Shows an error about a field at that field. Returns false if the form does not show it. */
export function showFieldError(
  form: FormInstance,
  labels: ReturnType<typeof useDepartmentLabels>,
  error: unknown,
): boolean {
  if (!(error instanceof ApiError) || error.reason !== 'INVALID_FIELD') return false;
  const name = String(error.details.field) as keyof typeof labels;
  if (!(name in labels) || !form.getFieldInstance(name)) return false;
  form.setFields([{ name, errors: [getFieldErrorText(error, labels[name])] }]);
  return true;
}

/** With an `orderPlaceholder`, which says where the department goes by default, the order number is optional. */
export function DepartmentFields({ orderPlaceholder }: { orderPlaceholder?: string }) {
  const t = useTexts(departmentsTexts);
  const phoneRule = usePhoneRule();
  return (
    <div className="departments-fields">
      <Form.Item name="deptName" label={t.name} rules={[{ required: true, whitespace: true, message: t.nameRequired }]}>
        <Input maxLength={100} autoComplete="off" autoFocus />
      </Form.Item>
      <Form.Item name="leader" label={t.leader} extra={<LeaderHint />}>
        <LeaderInput />
      </Form.Item>
      <Form.Item name="leaderId" hidden>
        <Input />
      </Form.Item>
      <Form.Item name="phone" label={t.phone} rules={[phoneRule]}>
        <Input maxLength={32} autoComplete="off" inputMode="tel" />
      </Form.Item>
      <Form.Item name="email" label={t.email} rules={[{ pattern: /^\s*[^@\s]+@[^@\s]+\s*$/, message: t.emailInvalid }]}>
        <Input maxLength={254} autoComplete="off" inputMode="email" />
      </Form.Item>
      <Form.Item name="orderNum" label={t.order} rules={[{ required: !orderPlaceholder, message: t.orderRequired }]}>
        <InputNumber
          min={-2147483648}
          max={MAX_ORDER}
          precision={0}
          placeholder={orderPlaceholder}
          className="full-width"
        />
      </Form.Item>
      <Form.Item name="status" label={t.status}>
        <Radio.Group
          options={[
            { value: '0', label: t.normal },
            { value: '1', label: t.disabled },
          ]}
        />
      </Form.Item>
    </div>
  );
}
