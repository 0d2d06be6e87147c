import { Form, Input, InputNumber, Radio } from 'antd';
import type { Dept, DeptInput } from '../api.ts';
import { useTexts } from '../language.ts';
import { departmentsTexts } from './texts.ts';

/** What a form of a department holds. Empty fields are empty texts while somebody types. */
export interface DeptValues {
  deptName: string;
  leader: string;
  phone: string;
  email: string;
  orderNum: number;
  status: '0' | '1';
}

export const valuesOf = ({ deptName, leader, phone, email, orderNum, status }: Dept): DeptValues => ({
  deptName,
  leader: leader ?? '',
  phone: phone ?? '',
  email: email ?? '',
  orderNum,
  status,
});

/** As the service takes it: what is empty is not there. */
export const bodyOf = (values: DeptValues): Omit<DeptInput, 'parentId'> => ({
  ...values,
  deptName: values.deptName.trim(),
  leader: values.leader?.trim() || null,
  phone: values.phone?.trim() || null,
  email: values.email?.trim() || null,
});

/** `withoutOrder`: where it is put when no number is given. Without it a number is asked for. */
export function DeptFields({ withoutOrder }: { withoutOrder?: string }) {
  const t = useTexts(departmentsTexts);
  return (
    <div className="departments-fields">
      <Form.Item name="deptName" label={t.name} rules={[{ required: true, whitespace: true, message: t.nameNeeded }]}>
        <Input maxLength={100} autoComplete="off" autoFocus />
      </Form.Item>
      <Form.Item name="leader" label={t.leader}>
        <Input maxLength={50} autoComplete="off" />
      </Form.Item>
      <Form.Item name="phone" label={t.phone}>
        <Input maxLength={32} autoComplete="off" inputMode="tel" />
      </Form.Item>
      <Form.Item name="email" label={t.email} rules={[{ pattern: /^\s*[^@\s]+@[^@\s]+\s*$/, message: t.emailWrong }]}>
        <Input maxLength={254} autoComplete="off" inputMode="email" />
      </Form.Item>
      <Form.Item name="orderNum" label={t.order} rules={[{ required: !withoutOrder, message: t.orderNeeded }]}>
        <InputNumber
          min={-2147483648}
          max={2147483647}
          precision={0}
          placeholder={withoutOrder}
          className="departments-number"
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
