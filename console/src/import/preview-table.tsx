import { Table } from 'antd';
import type { ImportPreview } from '../api.ts';
import { useTexts } from '../language.ts';
import { importTexts } from './texts.ts';

type Row = ImportPreview['table'][number];

/** The rows of the file, with the errors in the cells that have them. */
export function PreviewTable({ preview }: { preview: ImportPreview }) {
  const t = useTexts(importTexts);
  const fields = new Set(preview.columns.map(({ field }) => field));
  return (
    <Table<Row>
      size="small"
      rowKey="row"
      dataSource={preview.table}
      scroll={{ x: 'max-content' }}
      pagination={{ pageSize: 50, hideOnSinglePage: true, showSizeChanger: false }}
      columns={[
        { title: t.row, dataIndex: 'row', width: 70 },
        {
          title: t.action,
          width: 110,
          render: (_, { action, errors }) => (
            <>
              <span className={`import-action import-${action ?? 'invalid'}`}>{t[action ?? 'invalid']}</span>
              <CellErrors errors={errors.filter(({ field }) => field === null || !fields.has(field))} />
            </>
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
                <span className="import-cell">{cells[field]}</span>
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
  return errors.map(({ reason, msg }) => (
    <div key={reason} className="import-error">
      {msg}
    </div>
  ));
}
