import { Select } from 'antd';
import { useTexts } from '../../language.ts';
import { userTexts } from './texts.ts';

export type UserStatus = '0' | '1';

/** Returns null for any other text: the list then has users of every status. */
export const parseUserStatus = (text: string | null): UserStatus | null => (text === '0' || text === '1' ? text : null);

interface Props {
  value: UserStatus | null;
  onChange: (status: UserStatus | null) => void;
  className: string;
}

export function StatusSelect({ value, onChange, className }: Props) {
  const t = useTexts(userTexts);
  return (
    <Select<UserStatus | null>
      value={value}
      onChange={(status) => onChange(status ?? null)}
      placeholder={t.anyStatus}
      aria-label={t.status}
      allowClear
      className={className}
      options={[
        { value: '0', label: t.normal },
        { value: '1', label: t.disabled },
      ]}
    />
  );
}
