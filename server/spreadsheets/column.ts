import type { Language } from '../http/errors.ts';

/** What a cell contains. Numbers are only for quantities: ids and phone numbers are text, so that no program rounds them. */
export type CellValue = string | number | null;

/** A column of an exported sheet and of an import's template. Both derive from this definition. */
export interface Column<Row = never> {
  /** The name of the field in the API. */
  key: string;
  header: Readonly<Record<Language, string>>;
  /** Further headers that an import accepts. */
  aliases?: readonly string[];
  /** In characters of the sheet's font. */
  width: number;
  /** Whether an import reads the column. The template has only these columns. */
  imported: boolean;
  /** Whether the cells are numbers. Cells of other columns stay text when somebody edits them. */
  isNumber?: boolean;
  /** What the template says about the column. */
  help?: Readonly<Record<Language, string>>;
  show: (row: Row, language: Language) => CellValue;
}

/** The columns of the id that a record has in another system. `help` says whose id it is. */
export const externalIdColumns = <Row extends { source: string | null; externalId: string | null }>(
  help: Readonly<Record<Language, string>>,
): Column<Row>[] => [
  {
    key: 'source',
    header: { zh: '来源系统', en: 'Source' },
    aliases: ['来源'],
    width: 14,
    imported: true,
    help: {
      zh: '外部编号所属的系统，最多 50 个字符。',
      en: 'The system that the external ID belongs to, at most 50 characters.',
    },
    show: ({ source }) => source,
  },
  {
    key: 'externalId',
    header: { zh: '外部编号', en: 'External ID' },
    aliases: ['外部ID'],
    width: 20,
    imported: true,
    help,
    show: ({ externalId }) => externalId,
  },
];

/** The columns of a template, in its order: an import without a header row reads them by position. */
export const importedColumns = <Row>(columns: readonly Column<Row>[]): Column<Row>[] =>
  columns.filter(({ imported }) => imported);

/**
 * Finds the column that has this text as its header in either language, as an alias or as its key. Spaces and letter case don't
 * matter.
 */
export function columnOfHeader<Row>(columns: readonly Column<Row>[], header: string): Column<Row> | undefined {
  const wanted = normalize(header);
  return columns.find(({ key, header: { zh, en }, aliases = [] }) =>
    [key, zh, en, ...aliases].some((each) => normalize(each) === wanted),
  );
}

/** Templates of other systems mark required columns with an asterisk. */
const normalize = (header: string) => header.replaceAll(/[\s*＊\u200B]/g, '').toLowerCase();
