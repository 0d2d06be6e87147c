import { Table, type TableRef } from 'antd';
import { useEffect, useRef } from 'react';
import type { ImportPreview } from '../api.ts';
import { useTexts } from '../language.ts';
import { useIsPhone } from '../ui/use-is-phone.ts';
import { importTexts } from './texts.ts';

type Row = ImportPreview['table'][number];

/** The rows of the file. The result column lists the errors of a row; an error of a cell is repeated in that cell. */
export function PreviewTable({ preview }: { preview: ImportPreview }) {
  const t = useTexts(importTexts);
  const table = useRef<TableRef>(null);
  // No cell can take the focus, so the area that scrolls has to. antd has no property for that.
  useEffect(() => {
    const area = table.current?.nativeElement.querySelector('.ant-table-content');
    area?.setAttribute('tabindex', '0');
    area?.setAttribute('role', 'region');
    area?.setAttribute('aria-label', t.table);
  }, [t]);
  // On a phone, fixed columns would cover the others.
  const fixed = useIsPhone() ? {} : ({ fixed: 'left' } as const);
  return (
    <Table<Row>
      ref={table}
      className="import-table"
      size="small"
      rowKey="row"
      dataSource={preview.table}
      scroll={{ x: 'max-content' }}
      pagination={{
        pageSize: 50,
        hideOnSinglePage: true,
        showSizeChanger: false,
        onChange: () => table.current?.nativeElement.scrollIntoView(),
      }}
      columns={[
        { title: t.row, dataIndex: 'row', width: 70, ...fixed },
        {
          title: t.action,
          width: preview.invalid > 0 ? 260 : 110,
          ...fixed,
          render: (_, { action, errors }) => (
            <div className="import-result">
              <span className={`import-action import-${action ?? 'invalid'}`}>{t[action ?? 'invalidRow']}</span>
              <CellErrors errors={errors} />
            </div>
          ),
        },
        ...preview.columns.map(({ field, header }) => ({
          key: field,
          title: header,
          render: (_: unknown, { cells, errors, changes }: Row) => {
            const own = errors.filter((error) => error.field === field);
            return (
              <div
                className={own.length > 0 ? 'import-wrong' : changes.includes(field) ? 'import-new-value' : undefined}
              >
                <div className="import-cell" title={cells[field] ?? undefined}>
                  {cells[field]}
                </div>
                <CellErrors errors={own} />
              </div>
            );
          },
        })),
      ]}
    />
  );
}

function CellErrors({ errors }: { errors: Row['errors'] }) {
  return errors.map(({ field, reason, msg }) => (
    <div key={`${field} ${reason}`} className="import-error">
      {msg}
    </div>
  ));
}
