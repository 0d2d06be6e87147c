import { Button, Form, Input } from 'antd';
import { api } from '../api.ts';
import { isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { meTexts } from './texts.ts';

interface Typed {
  oldPassword: string;
  newPassword: string;
  newAgain: string;
}

export function PasswordForm() {
  const t = useTexts(meTexts);
  const { user } = useMe();
  const [form] = Form.useForm<Typed>();
  const { start, busy } = useAction({
    run: ({ oldPassword, newPassword }: Typed) => api.changePassword({ oldPassword, newPassword }),
    done: t.changed,
    changes: [['sessions']],
    after: () => form.resetFields(),
    refused: (error) => {
      if (!isRefusal(error, 'WRONG_PASSWORD')) return false;
      form.setFields([{ name: 'oldPassword', errors: [error.message] }]);
      form.focusField('oldPassword');
      return true;
    },
  });
  const required = { required: true, message: t.required };
  return (
    <Form form={form} layout="vertical" onFinish={(typed) => start(typed)} requiredMark={false} className="narrow-form">
      {/* So that password managers know whose it is. */}
      <input type="text" name="username" autoComplete="username" value={user.userName} readOnly hidden />
      <Form.Item name="oldPassword" label={t.oldPassword} rules={[required]}>
        <Input.Password autoComplete="current-password" maxLength={128} />
      </Form.Item>
      <Form.Item name="newPassword" label={t.newPassword} rules={[required, { min: 8, message: t.tooShort }]}>
        <Input.Password autoComplete="new-password" maxLength={128} />
      </Form.Item>
      <Form.Item
        name="newAgain"
        label={t.newAgain}
        dependencies={['newPassword']}
        rules={[
          required,
          ({ getFieldValue }) => ({
            validator: async (_, value) => {
              if (value && value !== getFieldValue('newPassword')) throw new Error(t.notSame);
            },
          }),
        ]}
      >
        <Input.Password autoComplete="new-password" maxLength={128} />
      </Form.Item>
      <Button type="primary" htmlType="submit" loading={busy}>
        {t.change}
      </Button>
    </Form>
  );
}
