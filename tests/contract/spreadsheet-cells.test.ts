import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { DEPARTMENT_COLUMNS } from '../../server/departments/columns.ts';
import { columnOfHeader, importedColumns } from '../../server/spreadsheets/column.ts';
import { decodeFormula, encodeFormula } from '../../server/spreadsheets/formula.ts';
import { decodePath, encodePath, encodePaths, splitPaths } from '../../server/spreadsheets/path.ts';
import { piecesOf } from '../../server/spreadsheets/rows.ts';
import { type SheetRow, textOf } from '../../server/spreadsheets/sheet.ts';
import { ROLE_WORDS, STATUS_WORDS, valueOfWord } from '../../server/spreadsheets/words.ts';
import { TENANT_COLUMNS } from '../../server/tenants/columns.ts';
import { USER_COLUMNS } from '../../server/users/columns.ts';
import { firstSeed } from '../support/scale.ts';

const seeded = { seed: firstSeed };

/** Texts in which the characters that have a meaning in cells are frequent. */
const text = fc.string({
  unit: fc.constantFrom('a', '1', '/', '\\', '\n', '\r', "'", '=', '+', '-', '@', '\t', '＝', '研', ';', '；', '，'),
});

test('a path separates names by slashes and escapes those inside names', () => {
  assert.equal(encodePath(['总部', '研发中心', '前端组']), '总部/研发中心/前端组');
  assert.equal(encodePath(['A/B', 'C\\D']), 'A\\/B/C\\\\D');
  assert.deepEqual(decodePath('A\\/B/C\\\\D'), ['A/B', 'C\\D']);
  assert.deepEqual(decodePath(''), []);
  assert.deepEqual(decodePath('/a//'), ['', 'a', '', '']);
  assert.deepEqual(decodePath('C:\\x'), ['C:\\x'], 'a backslash before other characters stands for itself');
  assert.deepEqual(decodePath('a\\'), ['a\\']);
});

test('decoding a path returns its names, whatever they contain', () => {
  const names = fc.array(text, { minLength: 1 }).filter((path) => path.length > 1 || path[0] !== '');
  fc.assert(
    fc.property(names, (path) => assert.deepEqual(decodePath(encodePath(path)), path)),
    seeded,
  );
  fc.assert(
    fc.property(fc.array(names), (paths) => assert.deepEqual(splitPaths(encodePaths(paths)).map(decodePath), paths)),
    seeded,
  );
  assert.deepEqual(splitPaths('a/b\r\nc\n\nd；e;f，g\\;h\\\\;'), ['a/b', 'c', 'd', 'e', 'f', 'g\\;h\\\\']);
});

test('a cell that would be a formula gets a quote, a phone number does not', () => {
  for (const formula of ['=1+1', '+cmd|calc', '-2+3', '@SUM(A1)', '\t=1', '\r=1', '＝1', '+86-A1', '-', '=5', "'=1"]) {
    assert.equal(encodeFormula(formula), `'${formula}`);
  }
  for (const plain of [
    '+86 138-0000-0000',
    '+86 (0)21 5555.1',
    '-5',
    '-5.25',
    '',
    "'",
    "O'Neil",
    'a=b',
    "'+86",
    '1+1',
  ]) {
    assert.equal(encodeFormula(plain), plain);
    assert.equal(decodeFormula(plain), plain);
  }
});

test('decoding a cell returns the text, whatever it contains', () => {
  fc.assert(
    fc.property(text, (each) => assert.equal(decodeFormula(encodeFormula(each)), each)),
    seeded,
  );
});

test('messages of the worker thread with several rows have a bounded size, however wide the rows are', () => {
  const rowsOf = (count: number, cells: string[]): SheetRow[] =>
    Array.from({ length: count }, (_, n) => ({ row: n + 1, cells }));
  const tables = [
    rowsOf(10_000, ['a', 'b']),
    rowsOf(1_000, Array<string>(200).fill('1')),
    rowsOf(100, ['x'.repeat(100_000)]),
    rowsOf(2, Array<string>(200).fill('x'.repeat(100_000))),
    [],
  ];
  for (const table of tables) {
    const pieces = [...piecesOf(table)];
    assert.deepEqual(pieces.flat(), table);
    for (const piece of pieces.filter(({ length }) => length > 1)) {
      const cells = piece.flatMap((row) => row.cells.map(textOf));
      assert.ok(cells.length <= 8_000 && cells.join('').length <= 400_000, `${cells.length} cells`);
    }
  }
});

test('words of both languages and the values themselves are accepted', () => {
  for (const word of ['停用', 'Disabled', ' disabled ', '1']) assert.equal(valueOfWord(STATUS_WORDS, word), '1');
  for (const word of ['管理员', 'Administrator', 'admin']) assert.equal(valueOfWord(ROLE_WORDS, word), 'admin');
  assert.equal(valueOfWord(STATUS_WORDS, 'constructor'), undefined);
  assert.equal(valueOfWord(STATUS_WORDS, ''), undefined);
});

test('every header identifies one column', () => {
  for (const columns of [DEPARTMENT_COLUMNS, USER_COLUMNS, TENANT_COLUMNS] as const) {
    for (const { key, header, aliases = [] } of columns) {
      for (const name of new Set([key, header.zh, header.en, ...aliases])) {
        const found = (columns as typeof DEPARTMENT_COLUMNS).filter((each) => columnOfHeader([each], name));
        assert.deepEqual(
          found.map((each) => each.key),
          [key],
          name,
        );
      }
    }
  }
  assert.equal(columnOfHeader(USER_COLUMNS, ' * user NAME ')?.key, 'userName');
  assert.equal(columnOfHeader(USER_COLUMNS, 'password'), undefined);
});

test('the template explains each of its columns', () => {
  for (const column of [...importedColumns(DEPARTMENT_COLUMNS), ...importedColumns(USER_COLUMNS)]) {
    assert.ok(column.help, column.key);
  }
});
