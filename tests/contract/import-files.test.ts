import assert from 'node:assert/strict';
import fs from 'node:fs';
import { before, test } from 'node:test';
import { type Cell, csv, importFile, xlsx } from '../support/import.ts';
import { isLong, sample } from '../support/scale.ts';
import { type Client, shareService } from '../support/service.ts';

const service = await shareService();
const fixture = (name: string) => fs.readFileSync(new URL(`../../../tests/fixtures/${name}`, import.meta.url));
let tenant: Client;
before(async () => {
  tenant = await service.createTenant();
});

interface ShownRow {
  row: number;
  action: string | null;
  cells: Record<string, string>;
  errors: { column: string | null; reason: string; msg: string }[];
}

async function preview(file: Buffer, kind: 'dept' | 'user' = 'dept', headers = {}): Promise<ShownRow[]> {
  const { code, data, text } = await importFile(tenant, kind, 'preview', file, { headers });
  assert.equal(code, 200, text);
  return data.table;
}

const expectRejected = async (file: Buffer, reason: string) => {
  const response = await importFile(tenant, 'dept', 'preview', file);
  assert.equal(response.data?.reason, reason, response.text);
  return response;
};

test('a workbook saved by LibreOffice is read with its merged header, formulas, numbers and empty rows', async () => {
  const rows = await preview(fixture('departments-libreoffice.xlsx'));
  assert.deepEqual(
    rows.map(({ row, action, cells }) => [row, action, cells.path, cells.orderNum, cells.phone, cells.email]),
    [
      [4, 'created', '总部', '1', '13800138000', ''],
      [6, 'created', '总部/研发中心', '2', '０１０－８８８８', 'rd@example.com'],
    ],
  );
});

const text = '部门路径,联系电话\r\n总部,010-1\r\n"总部/甲,乙",010-2\r\n';

test('csv files are read in UTF-8, or in UTF-16 with a byte order mark, and with any common delimiter', async () => {
  const files: Buffer[] = [
    Buffer.from(text),
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
    Buffer.from(`sep=,\r\n${text}`),
    Buffer.from('部门路径;联系电话\n总部;010-1\n总部/甲,乙;010-2\n'),
    Buffer.from('部门路径\t联系电话\n总部\t010-1\n总部/甲,乙\t010-2\n'),
  ];
  // The everyday run reads only the first UTF-16 file. Most other tests send UTF-8 without a byte order mark.
  for (const file of sample(files, files.length, 2)) {
    const rows = await preview(file);
    assert.deepEqual(
      rows.map(({ cells }) => [cells.path, cells.phone]),
      [
        ['总部', '010-1'],
        ['总部/甲,乙', '010-2'],
      ],
    );
  }
});

test('csv files in GBK are recognized', async () => {
  const rows = await preview(fixture('users-gbk.csv'), 'user');
  assert.deepEqual(
    rows.map(({ cells }) => [cells.userName, cells.nickName, cells.deptPath, cells.phone]),
    [
      ['zhangsan', '张三', '总部/研发中心', '13800138000'],
      ['lisi', '李四', '总部', '010-8888'],
    ],
  );
});

test('columns are found by headers in either language, by aliases, below a title, or by the order of the template', async () => {
  const values = ['总部', '', '3', '张三'];
  const tables: Cell[][][] = [
    [['部门路径', '部门名称', '显示顺序', '负责人'], values],
    [['Department path', 'Department name', 'Display order', 'Leader'], values],
    [['* path', 'name', 'ORDER', 'leader'], values],
    [['部门导入表'], [], ['请勿修改表头'], ['部门路径', '部门名称', '显示顺序', '负责人'], values],
    [values],
  ];
  for (const table of sample(tables, tables.length, 3)) {
    const { data: read } = await importFile(tenant, 'dept', 'preview', await xlsx(table));
    assert.equal(read.hasHeader, table[0] !== values);
    const rows: ShownRow[] = read.table;
    assert.deepEqual(
      rows.map(({ action, cells }) => [action, cells.path, cells.orderNum, cells.leader]),
      [['created', '总部', '3', '张三']],
    );
  }
  const { data } = await importFile(tenant, 'dept', 'preview', await xlsx(tables[1] as Cell[][]));
  assert.deepEqual(data.columns[2], { field: 'orderNum', column: 'C', header: 'Display order' });
});

test('a date, an error value, a formula without a result and a number in scientific notation are errors that say what to correct', async () => {
  const cells = new Map([
    ['2,1', { formula: 'B1&"x"', value: null }],
    ['3,1', { value: '#N/A', type: 'error' }],
  ]);
  const rows = await preview(
    await xlsx(
      [
        ['部门路径', '负责人', '联系电话'],
        ['A', new Date('2026-03-01'), null],
        ['B', null, null],
        ['C', '#N/A', null],
      ],
      {
        cells,
      },
    ),
    'dept',
    { 'accept-language': 'en' },
  );
  assert.match(rows[0]?.errors[0]?.msg ?? '', /^负责人 is a date\. Format the cell as text/);
  assert.match(rows[1]?.errors[0]?.msg ?? '', /formula without a stored result/);
  assert.match(rows[2]?.errors[0]?.msg ?? '', /is a formula error\. Enter the value instead/);
  const [lost] = await preview(
    csv([
      ['部门路径', '联系电话'],
      ['A', '1.38E+10'],
    ]),
  );
  assert.deepEqual([lost?.errors[0]?.column, lost?.errors[0]?.reason], ['B', 'INVALID_FIELD']);
  assert.match(lost?.errors[0]?.msg ?? '', /科学计数法/);
});

test('a number that a spreadsheet program has rounded is an error', async () => {
  // A program stores 18 digits as 1.10101199003077E+17: the last three are lost.
  const numbers = [1.10101199003077e17, 9007199254740992, 1e15, -1e15, 1e-7];
  const rows = await preview(
    await xlsx([
      ['用户名', '姓名', '外部编号', '手机号'],
      ...numbers.map((number, n): Cell[] => [number, `n${n}`, null, null]),
      ['a', null, numbers[0] as number, null],
      ['b', null, null, numbers[0] as number],
      ['c', numbers[0] as number, null, null],
      [999999999999999, null, null, 13800138000],
    ]),
    'user',
  );
  for (const { row, errors } of rows.slice(0, -1)) assert.match(errors[0]?.msg ?? `row ${row}`, /科学计数法/);
  assert.equal(rows[0]?.cells.userName, '1.10101199003077E+17');
  const exact = rows.at(-1);
  assert.deepEqual(exact?.errors, []);
  assert.deepEqual([exact?.cells.userName, exact?.cells.phone], ['999999999999999', '13800138000']);
});

test('a number has the leading zeros that its format shows', async () => {
  const numbers: [format: string | undefined, value: number, expected: string][] = [
    ['00000000', 4711, '00004711'],
    ['000', 4711, '4711'],
    ['0000;@', 7, '0007'],
    ['000000_ ', 123, '000123'],
    ['[Red]0000', 5, '0005'],
    ['[$-804]0000', 5, '0005'],
    ['"E"0000', 12, 'E0012'],
    ['000-0000-0000', 13800001111, '138-0000-1111'],
    ['0000\\ 0000', 7, '0000 0007'],
    ['0.00', 12, '12'],
    ['#,##0', 1200, '1200'],
    ['0%', 1, '1'],
    [undefined, 12, '12'],
  ];
  const rows = [['用户名', '外部编号', '来源系统'], ...numbers.map(([, value], n) => [`padded${n}`, value, 'hr'])];
  const cells = new Map(
    numbers.flatMap(([numFmt], n) => (numFmt ? [[`${n + 1},1`, { style: { numFmt } }] as const] : [])),
  );
  const read = await preview(await xlsx(rows, { cells }), 'user');
  assert.deepEqual(
    read.map(({ cells }) => cells.externalId),
    numbers.map(([, , expected]) => expected),
  );
});

test('rows that contain only spaces are ignored', async () => {
  const rows: Cell[][] = [
    ['部门路径', '状态'],
    [' ', '\t'],
    ['甲', ''],
    ['\u3000', '\u00a0'],
    ['乙', ' '],
    ['\u200b', ' '],
  ];
  for (const file of [await xlsx(rows), csv(rows)]) {
    const shown = await preview(file);
    assert.deepEqual(
      shown.map(({ row, action, cells }) => [row, action, cells.path]),
      [
        [3, 'created', '甲'],
        [5, 'created', '乙'],
      ],
    );
  }
});

test('empty rows of a csv file do not count towards the maximum number of rows', async () => {
  const rows = await preview(Buffer.from(`部门路径,状态\n${',\n'.repeat(300_001)}甲,正常\n`));
  assert.deepEqual(
    rows.map(({ row, action }) => [row, action]),
    [[300_003, 'created']],
  );
});

test('a csv file with an unterminated quote is rejected with the number of its row', async () => {
  for (const damaged of ['一,"坏\n二,x\n三,y', '一,"坏\n二,"x"\n三,y']) {
    const { msg } = await expectRejected(Buffer.from(`部门路径,备注\n${damaged}`), 'FILE_UNREADABLE');
    assert.match(msg, /第 2 行.*引号/);
  }
  const rows = await preview(Buffer.from('部门路径,备注\n一,"a ""b""\nc"\n5" 管,x"\n二,"e" f'));
  assert.deepEqual(
    rows.map(({ row, cells }) => [row, cells.path]),
    [
      [2, '一'],
      [3, '5" 管'],
      [4, '二'],
    ],
  );
});

test('a file that is empty, of another kind, protected or without a required column is rejected with advice', async () => {
  const unreadable = [
    Buffer.alloc(0),
    Buffer.from('\n\n,,\n'),
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 1, 2, 0xff, 0xff]),
    Buffer.from('PK\u0003\u0004 not a zip file'),
  ];
  for (const start of ['%PDF-1.7', '{\\rtf1', '\ufeff \n<HTML>', '<table', '<!doctype html>', '<?xml version="1.0"?>'])
    unreadable.push(Buffer.from(`${start}\n部门路径,状态\n总部,正常\n`));
  unreadable.push(Buffer.from('\ufeff<html>\n部门路径\n总部\n', 'utf16le'));
  for (const file of unreadable) await expectRejected(file, 'FILE_UNREADABLE');
  const lacking = await expectRejected(
    csv([
      ['负责人', '状态'],
      ['a', '正常'],
    ]),
    'COLUMNS_MISSING',
  );
  assert.match(lacking.msg, /部门路径/);
  const { msg } = await expectRejected(Buffer.from('d0cf11e0a1b11ae1', 'hex'), 'FILE_UNREADABLE');
  assert.match(msg, /\.xls/);
});

test('the preview can be downloaded as a file with the same rows and a column for the errors', async () => {
  const file = await xlsx([
    ['部门路径', '状态', '备注'],
    ['总部', '启动', '=1+1'],
    ['总部/甲', '正常', 'x'],
  ]);
  const asCsv = await importFile(tenant, 'dept', 'preview', file, { query: '&report=csv' });
  assert.match(String(asCsv.headers['content-disposition']), /import-errors\.csv/);
  const [header, first, second] = asCsv.text.split('\r\n');
  assert.equal(header, '\ufeff部门路径,状态,备注,错误');
  assert.match(first ?? '', /^总部,启动,'=1\+1,状态只能是：正常、停用/);
  assert.equal(second, '总部/甲,正常,x,');
  if (!isLong) return;
  const english = await importFile(tenant, 'dept', 'preview', file, {
    query: '&report=csv',
    headers: { 'accept-language': 'en' },
  });
  assert.match(english.text, /Errors\r\n.*must be one of: Normal, Disabled/);
});
