import { writeCsv } from 'hucre/csv';
import { writeXlsx } from 'hucre/xlsx';
import type { Language } from '../http/errors.ts';
import { type CellValue, importedColumns } from './column.ts';
import type { Format } from './schema.ts';
import { csvCell, type Sheet, TEXT_FORMAT, xlsxCell } from './writing.ts';

/** Values by the keys of the columns. */
type Example = Readonly<Record<string, CellValue>>;
export type Examples = Readonly<Record<Language, readonly Example[]>>;

const TEXTS = {
  zh: {
    title: '填写说明',
    column: '列',
    explanation: '说明',
    note: '导入前请删除示例行。列可以调整顺序，不需要的列可以删除；没有表头时按模板中的顺序读取。',
  },
  en: {
    title: 'Instructions',
    column: 'Column',
    explanation: 'Explanation',
    note: 'Delete the example rows before you import the file. You may reorder columns and remove those that you do not need. Without a header row, columns are read in the order of the template.',
  },
} as const;

/** Returns a file to fill in for an import: the header, a few examples and, in xlsx, a sheet that explains the columns. */
export async function writeTemplate<Row>(
  { title, columns }: Sheet<Row>,
  examples: Examples,
  format: Format,
  language: Language,
): Promise<Buffer> {
  const imported = importedColumns(columns);
  const headers = imported.map(({ header }) => header[language]);
  const rows = (encode: (text: string) => string) =>
    examples[language].map((example) =>
      imported.map(({ key }) => {
        const value = example[key] ?? null;
        return typeof value === 'string' ? encode(value) : value;
      }),
    );
  if (format === 'csv')
    return Buffer.from(`${writeCsv(rows(csvCell), { headers, bom: true, lineSeparator: '\r\n' })}\r\n`);
  const texts = TEXTS[language];
  const explanations = [
    [texts.column, texts.explanation],
    ...imported.map(({ header, help }) => [header[language], help?.[language] ?? '']),
    [],
    [texts.note],
  ];
  return Buffer.from(
    await writeXlsx({
      sheets: [
        {
          name: title[language],
          columns: imported.map(({ width, isNumber }) => ({ width, ...(isNumber ? {} : { numFmt: TEXT_FORMAT }) })),
          rows: [headers, ...rows(xlsxCell)],
          freezePane: { rows: 1 },
        },
        { name: texts.title, columns: [{ width: 24 }, { width: 100 }], rows: explanations },
      ],
    }),
  );
}
