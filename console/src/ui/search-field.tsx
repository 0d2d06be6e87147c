import { SearchOutlined } from '@ant-design/icons';
import { Input } from 'antd';
import { useSearchText } from './use-search-text.ts';

interface Props {
  label: string;
  /** The text in the URL. */
  value: string;
  onSearch: (text: string) => void;
  maxLength: number;
  className: string;
}

/** A search field whose text is kept in the URL. */
export function SearchField({ label, value, onSearch, maxLength, className }: Props) {
  const [text, setText] = useSearchText(value, onSearch);
  return (
    <Input
      value={text}
      onChange={(event) => setText(event.target.value)}
      prefix={<SearchOutlined />}
      placeholder={label}
      aria-label={label}
      maxLength={maxLength}
      allowClear
      className={className}
    />
  );
}
