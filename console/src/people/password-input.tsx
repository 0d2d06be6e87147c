import { ReloadOutlined } from '@ant-design/icons';
import { Button, Input, Space } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { makePassword } from './password.ts';
import { taskTexts } from './texts.ts';

interface Props {
  id?: string;
  value?: string;
  onChange?: (password: string) => void;
}

/** Typed, or generated; what was generated is shown. */
export function PasswordInput({ id, value, onChange, ...aria }: Props) {
  const t = useTexts(taskTexts);
  const [visible, onVisibleChange] = useState(false);
  return (
    <Space.Compact block>
      <Input.Password
        {...aria}
        {...(id ? { id } : {})}
        value={value ?? ''}
        onChange={(event) => onChange?.(event.target.value)}
        visibilityToggle={{ visible, onVisibleChange }}
        autoComplete="new-password"
        maxLength={128}
      />
      <Button
        icon={<ReloadOutlined />}
        onClick={() => {
          onChange?.(makePassword());
          onVisibleChange(true);
        }}
      >
        {t.generate}
      </Button>
    </Space.Compact>
  );
}
