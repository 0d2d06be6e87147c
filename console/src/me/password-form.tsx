import { Button, Form, Input } from 'antd';
import { api } from '../api.ts';
import { isApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { meTexts } from './texts.ts';

interface FormValues {
  oldPassword: string;
  newPassword: string;
  confirmPassword: string;
}

export function PasswordForm() {
  const t = useTexts(meTexts);
  const { user } = useMe();
  const [form] = Form.useForm<FormValues>();
  const { mutate, isPending } = useApiMutation({
    mutationFn: ({ oldPassword, newPassword }: FormValues) => api.changePassword({ oldPassword, newPassword }),
    successMessage: t.changed,
    invalidates: [queryKeys.sessions],
    onSuccess: () => form.resetFields(),
    onError: (error) => {
      if (!isApiError(error, 'WRONG_PASSWORD')) return false;
      form.setFields([{ name: 'oldPassword', errors: [error.message] }]);
      form.focusField('oldPassword');
      return true;
    },
  });
  const required = { required: true, message: t.required };
  return (
    <Form
      form={form}
      layout="vertical"
      onFinish={(values) => mutate(values)}
      requiredMark={false}
      className="narrow-form"
    >
      {/* Password managers need to know which user the password belongs to. */}
      <input type="text" name="username" autoComplete="username" value={user.userName} readOnly hidden />
      <Form.Item name="oldPassword" label={t.oldPassword} rules={[required]}>
        <Input.Password autoComplete="current-password" maxLength={128} />
      </Form.Item>
      <Form.Item name="newPassword" label={t.newPassword} rules={[required, { min: 8, message: t.tooShort }]}>
        <Input.Password autoComplete="new-password" maxLength={128} />
      </Form.Item>
      <Form.Item
        name="confirmPassword"
        label={t.confirmPassword}
        dependencies={['newPassword']}
        rules={[
          required,
          ({ getFieldValue }) => ({
            validator: async (_, value) => {
              if (value && value !== getFieldValue('newPassword')) throw new Error(t.passwordMismatch);
            },
          }),
        ]}
      >
        <Input.Password autoComplete="new-password" maxLength={128} />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={isPending}>
        {t.change}
      </Button>
    </Form>
  );
}
