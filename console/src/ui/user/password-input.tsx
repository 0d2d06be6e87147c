import { ReloadOutlined } from '@ant-design/icons';
import { Button, Input, Space } from 'antd';
import { useState } from 'react';
import { useTexts } from '../../language.ts';
import { generatePassword } from './generate-password.ts';
import { bulkActionTexts } from './texts.ts';

interface Props {
  id?: string;
  value?: string;
  onChange?: (password: string) => void;
  onGenerate: (password: string) => void;
  /** For a field that starts with a generated password. */
  startsVisible?: boolean;
}

/** A password field with a button that generates a password and makes it visible. */
export function PasswordInput({ id, value, onChange, onGenerate, startsVisible = false, ...aria }: Props) {
  const t = useTexts(bulkActionTexts);
  const [visible, onVisibleChange] = useState(startsVisible);
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
          const password = generatePassword();
          onGenerate(password);
          onChange?.(password);
          onVisibleChange(true);
        }}
      >
        {t.generate}
      </Button>
    </Space.Compact>
  );
}
