import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { test } from 'node:test';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { readSpreadsheet } from '../../server/spreadsheets/read.ts';
import { ReadError } from '../../server/spreadsheets/read-error.ts';
import { createTagLimit } from '../../server/spreadsheets/tags.ts';
import { csv, importFile, xlsx } from '../support/import.ts';
import { shareService } from '../support/service.ts';

/** Small files that need a lot of memory or time. */

const service = await shareService();
const tenant = await service.createTenant();

/** Returns a zip file. Checksums are left out, which readers accept. */
function zip(entries: readonly (readonly [name: string, data: Buffer | string])[]): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const [name, content] of entries) {
    const data = Buffer.from(content as string);
    const packed = zlib.deflateRawSync(data);
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(8, 8);
    head.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt16LE(8, 10);
    entry.writeUInt32LE(packed.length, 20);
    entry.writeUInt32LE(data.length, 24);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    parts.push(head, Buffer.from(name), packed);
    directory.push(entry, Buffer.from(name));
    offset += 30 + name.length + packed.length;
  }
  const tail = Buffer.alloc(22);
  tail.writeUInt32LE(0x06054b50, 0);
  tail.writeUInt16LE(entries.length, 10);
  tail.writeUInt32LE(Buffer.concat(directory).length, 12);
  tail.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, tail]);
}

const XML = '<?xml version="1.0"?>';
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const relationships = (type: string, target: string) =>
  `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` +
  `<Relationship Id="r1" Type="${OFFICE}/${type}" Target="${target}"/></Relationships>`;

/** The entries of a workbook whose sheet shows an image. */
const workbook: [name: string, data: Buffer | string][] = [
  ['[Content_Types].xml', `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`],
  ['_rels/.rels', relationships('officeDocument', 'xl/book7.xml')],
  [
    'xl/book7.xml',
    `${XML}<workbook ${MAIN} xmlns:r="${OFFICE}"><sheets><sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>`,
  ],
  ['xl/_rels/book7.xml.rels', relationships('worksheet', 'worksheets/sheet1.xml')],
  [
    'xl/worksheets/sheet1.xml',
    `${XML}<worksheet ${MAIN} xmlns:r="${OFFICE}"><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>部门路径</t></is></c></row>` +
      `<row r="2"><c r="A2" t="inlineStr"><is><t>总部</t></is></c></row></sheetData><drawing r:id="r1"/></worksheet>`,
  ],
  ['xl/worksheets/_rels/sheet1.xml.rels', relationships('drawing', '../drawings/drawing1.xml')],
  [
    'xl/drawings/drawing1.xml',
    `${XML}<xdr:wsDr xmlns:xdr="http://schemas.openxmlformats.org/drawingml/2006/spreadsheetDrawing" ` +
      `xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" xmlns:r="${OFFICE}"><xdr:oneCellAnchor>` +
      '<xdr:from><xdr:col>1</xdr:col><xdr:colOff>0</xdr:colOff><xdr:row>1</xdr:row><xdr:rowOff>0</xdr:rowOff></xdr:from>' +
      '<xdr:ext cx="9525" cy="9525"/><xdr:pic><xdr:blipFill><a:blip r:embed="r1"/></xdr:blipFill></xdr:pic>' +
      '<xdr:clientData/></xdr:oneCellAnchor></xdr:wsDr>',
  ],
  ['xl/drawings/_rels/drawing1.xml.rels', relationships('image', '../media/image1.png')],
];
const IMAGE = 'xl/media/image1.png';

const cellsOf = async (file: Buffer) => (await readSpreadsheet(file, '')).map(({ cells }) => cells[0]);

test('images are not unpacked: a sheet may show the same image thousands of times', async () => {
  const image = Buffer.alloc(1_000);
  const file = zip([...workbook, [IMAGE, image]]);
  // An image that cannot be unpacked makes no difference.
  const packed = zlib.deflateRawSync(image);
  file.fill(0xff, file.indexOf(packed), file.indexOf(packed) + packed.length);
  assert.deepEqual(await cellsOf(file), ['部门路径', '总部']);
});

test('a workbook with two entries of one name, and one with a zip64 directory, are rejected', async () => {
  const entry = workbook.find(([name]) => name === 'xl/worksheets/sheet1.xml') as (typeof workbook)[number];
  await assert.rejects(readSpreadsheet(zip([...workbook, entry]), ''), { code: 'FILE_UNREADABLE' });
  const zip64 = zip([]);
  zip64.writeUInt32LE(0xffffffff, 12);
  const { msg } = await importFile(tenant, 'dept', 'preview', zip64);
  assert.match(msg, /过大/);
});

test('a sheet with too many cells is rejected before parsing, because parsing it could end the service', async () => {
  const cells = '<c/>'.repeat(5_000_100);
  const file = zip(
    workbook.map(([name, content]) =>
      name === 'xl/worksheets/sheet1.xml'
        ? [name, String(content).replace('<row r="2">', `$&${cells}`)]
        : [name, content],
    ),
  );
  assert.ok(file.length < 200_000, 'it is small');
  const { msg } = await importFile(tenant, 'dept', 'preview', file);
  assert.match(msg, /过大/);
});

test('a cell counts once, with or without a prefix and a closing tag', () => {
  const half = 2_500_000;
  for (const cell of ['<x:c></x:c>', '<c></c>', '<x:c/>'] as const) {
    const limit = createTagLimit({ withStyles: true });
    limit(Buffer.from(cell.repeat(half)));
    assert.throws(() => limit(Buffer.from('<c/>')), ReadError, cell);
  }
});

/** Adds the paths of a file to a tree and prints the length of the last one. */
const ADD_PATHS = `
  const { PathTree } = await import(process.argv[1]);
  const tree = new PathTree();
  const below = Array(999).fill('a');
  let last;
  for (let n = 0; n < 250; n++) last = tree.add(['r' + n, ...below]);
  console.log(last.names.length);
`;

test('the memory for paths grows with the number of names, not with the square of their depth', async () => {
  const paths = new URL('../../server/departments/paths.js', import.meta.url);
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--max-old-space-size=150',
    '--input-type=module',
    '--eval',
    ADD_PATHS,
    String(paths),
  ]);
  assert.equal(stdout.trim(), '1000');
});

test('a file whose paths name too many departments is rejected', async () => {
  const below = '/a'.repeat(999);
  const paths = Array.from({ length: 301 }, (_, n) => [`r${n}${below}`]);
  const { data, msg } = await importFile(tenant, 'dept', 'preview', csv([['部门路径'], ...paths]));
  assert.equal(data.reason, 'FILE_UNREADABLE', msg);
  assert.match(msg, /300000/);
});

test('a cell that is too long is not treated as a header, so errors do not repeat it', async () => {
  const rows = Array.from({ length: 100 }, (_, n) => [`d${n}`, 'x']);
  for (const [header, errors] of [
    ['状态*', 100],
    [`状态${'*'.repeat(10_000)}`, 0],
  ] as const) {
    const response = await importFile(tenant, 'dept', 'preview', csv([['部门路径', header], ...rows]));
    assert.equal(response.data.errors, errors, response.text.slice(0, 300));
    assert.ok(response.text.length < 200_000, `${response.text.length} characters`);
  }
});

test('columns with the same header may have the same contents, but not different ones', async () => {
  const same = await xlsx([
    ['部门路径', '状态', '状态 '],
    ['a', '正常', ' 正常'],
  ]);
  assert.equal((await importFile(tenant, 'dept', 'preview', same)).data.errors, 0);
  const other = await xlsx([
    ['部门路径', '状态', '状态', '状态'],
    ['a', '正常', '正常', '正常'],
    ['b', '正常', '正常', '停用'],
  ]);
  assert.match((await importFile(tenant, 'dept', 'preview', other)).msg, /B 列和 D 列/);
});
