import { ColumnHeightOutlined } from '@ant-design/icons';
import { Button, Dropdown, Grid, Pagination, type PaginationProps } from 'antd';
import { defineTexts, useTexts } from '../language.ts';
import { createPersistedStore, useStore } from '../store.ts';

const listTexts = defineTexts({
  zh: { density: '行高', large: '宽松', middle: '中等', small: '紧凑' },
  en: { density: 'Row height', large: 'Spacious', middle: 'Default', small: 'Compact' },
});

const PAGE_SIZES = ['20', '50', '100'] as const;
const DENSITIES = ['large', 'middle', 'small'] as const;

/** Settings of the device for the lists of users and of tenants. */
const pageSizeStore = createPersistedStore('banyan.page-size', PAGE_SIZES, () => '20');
const densityStore = createPersistedStore('banyan.density', DENSITIES, () => 'middle');

export const usePageSize = () => Number(useStore(pageSizeStore));
/** The `size` of a table. */
export const useDensity = () => useStore(densityStore);

/** A button that sets the height of the rows of these lists. */
export function DensityButton() {
  const t = useTexts(listTexts);
  const density = useDensity();
  const hasTables = Grid.useBreakpoint().md !== false;
  const items = DENSITIES.map((key) => ({ key, label: t[key], onClick: () => densityStore.set(key) }));
  if (!hasTables) return null;
  return (
    <Dropdown autoFocus trigger={['click']} menu={{ items, selectedKeys: [density] }} placement="bottomRight">
      <Button icon={<ColumnHeightOutlined />} aria-label={t.density} title={t.density} aria-haspopup="menu" />
    </Dropdown>
  );
}

interface Props {
  page: number;
  total: number;
  onChange: (page: number) => void;
  isPhone?: boolean;
  showTotal?: PaginationProps['showTotal'];
  className?: string;
}

/** The pages of a list. Selecting a page scrolls to the top, and a new page size leads to the first page. */
export function ListPagination({ page, total, onChange, isPhone = false, showTotal, className }: Props) {
  const pageSize = usePageSize();
  return (
    <Pagination
      {...(className ? { className } : {})}
      {...(showTotal ? { showTotal } : {})}
      current={page}
      total={total}
      pageSize={pageSize}
      simple={isPhone}
      showSizeChanger={!isPhone && total > Number(PAGE_SIZES[0])}
      pageSizeOptions={[...PAGE_SIZES]}
      onChange={(next, size) => {
        const isResized = size !== pageSize;
        if (isResized) pageSizeStore.set(String(size) as (typeof PAGE_SIZES)[number]);
        onChange(isResized ? 1 : next);
        window.scrollTo({ top: 0 });
      }}
    />
  );
}
