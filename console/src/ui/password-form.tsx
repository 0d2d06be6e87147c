import { Button, Form, Input } from 'antd';
import { api } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { getFieldErrorText } from './field-error.ts';
import { passwordTexts } from './password-texts.ts';
import { useApiMutation } from './use-api-mutation.ts';

interface FormValues {
  oldPassword: string;
  newPassword: string;
  confirmPassword: string;
}

interface Props {
  /** Undefined if the console does not know it, because the user may read nothing yet. */
  userName?: string;
  onChanged?: () => void;
}

/** Changes the user's own password. */
export function PasswordForm({ userName, onChanged }: Props) {
  const t = useTexts(passwordTexts);
  const [form] = Form.useForm<FormValues>();
  const { mutate, isPending } = useApiMutation({
    mutationFn: ({ oldPassword, newPassword }: FormValues) => api.changePassword({ oldPassword, newPassword }),
    successMessage: t.changed,
    invalidates: [queryKeys.sessions],
    onSuccess: () => {
      form.resetFields();
      onChanged?.();
    },
    onError: (error) => {
      const name = error instanceof ApiError && getErrorField(error);
      if (!name) return false;
      form.setFields([{ name, errors: [getFieldErrorText(error, t[name])] }]);
      form.focusField(name);
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
      {userName && <input type="text" name="username" autoComplete="username" value={userName} readOnly hidden />}
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

/** The field that an error is about; undefined if it is not about a field. */
function getErrorField({ reason }: ApiError): 'oldPassword' | 'newPassword' | undefined {
  if (reason === 'WRONG_PASSWORD') return 'oldPassword';
  return /^PASSWORD_(TOO_COMMON|HAS_NAME|UNCHANGED)$/.test(reason) ? 'newPassword' : undefined;
}
