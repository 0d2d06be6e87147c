import { FilterOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { type ReactNode, useState } from 'react';
import { useTexts } from '../language.ts';
import { uiTexts } from './texts.ts';
import { useIsPhone } from './use-is-phone.ts';

interface Props {
  className?: string;
  /** The field that stays visible on phones. The other filters are then shown by a button next to it. */
  search?: ReactNode;
  /** How many of the other filters are set. The button says so. */
  activeCount?: number;
  children: ReactNode;
}

/** The row of filters above a list. `<search>` is the landmark for it. */
export function FilterBar({ className, search, activeCount = 0, children }: Props) {
  const t = useTexts(uiTexts);
  const isFoldable = useIsPhone() && Boolean(search);
  const [open, setOpen] = useState(false);
  return (
    <search className={className ? `filter-bar ${className}` : 'filter-bar'}>
      {search}
      {isFoldable && (
        <Button icon={<FilterOutlined />} aria-expanded={open} onClick={() => setOpen(!open)}>
          {t.filters(activeCount)}
        </Button>
      )}
      {(open || !isFoldable) && children}
    </search>
  );
}
