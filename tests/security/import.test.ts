import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import { test } from 'node:test';
import { promisify } from 'node:util';
import zlib from 'node:zlib';
import { readSpreadsheet } from '../../server/spreadsheets/read.ts';
import { type Cell, csv, form, importFile, xlsx } from '../support/import.ts';
import { isLong, sample, scale } from '../support/scale.ts';
import { Client, shareService, startService } from '../support/service.ts';

const service = await shareService();
const tenant = await service.createTenant();

/** Replaces the first sheet of a workbook with other bytes, and declares the given size for it. */
async function withSheet(
  sheet: Buffer,
  statedSize = sheet.length,
  packed = zlib.deflateRawSync(sheet),
): Promise<Buffer> {
  const workbook = await xlsx([['部门路径'], ['a']]);
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  const end = workbook.length - 22;
  let at = workbook.readUInt32LE(end + 16);
  const entries = workbook.readUInt16LE(end + 10);
  for (let n = 0; n < entries; n++) {
    const nameLength = workbook.readUInt16LE(at + 28);
    const length = 46 + nameLength + workbook.readUInt16LE(at + 30) + workbook.readUInt16LE(at + 32);
    const entry = Buffer.from(workbook.subarray(at, at + length));
    const name = entry.subarray(46, 46 + nameLength);
    const local = entry.readUInt32LE(42);
    const start = local + 30 + workbook.readUInt16LE(local + 26) + workbook.readUInt16LE(local + 28);
    const isSheet = String(name).includes('worksheets/sheet1.xml');
    const data = isSheet ? packed : workbook.subarray(start, start + entry.readUInt32LE(20));
    const head = Buffer.alloc(30);
    head.writeUInt32LE(0x04034b50, 0);
    head.writeUInt16LE(isSheet ? 8 : entry.readUInt16LE(10), 8);
    head.writeUInt16LE(nameLength, 26);
    entry.writeUInt16LE(0, 8);
    entry.writeUInt16LE(isSheet ? 8 : entry.readUInt16LE(10), 10);
    entry.writeUInt32LE(data.length, 20);
    if (isSheet) {
      entry.writeUInt32LE(statedSize, 24);
      entry.writeUInt32LE(0, 16);
    }
    entry.writeUInt32LE(offset, 42);
    parts.push(head, name, data);
    offset += 30 + nameLength + data.length;
    directory.push(entry);
    at += length;
  }
  const tail = Buffer.from(workbook.subarray(end));
  tail.writeUInt32LE(Buffer.concat(directory).length, 12);
  tail.writeUInt32LE(offset, 16);
  return Buffer.concat([...parts, ...directory, tail]);
}

const sheetOf = (rows: string) =>
  Buffer.from(
    `<?xml version="1.0"?><worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>${rows}</sheetData></worksheet>`,
  );
const row = (n: number, text: string) => `<row r="${n}"><c r="A${n}" t="inlineStr"><is><t>${text}</t></is></c></row>`;

const expectRejected = async (file: Buffer, reason: string, problem = /./) => {
  const response = await importFile(tenant, 'dept', 'preview', file);
  assert.equal(response.data?.reason, reason, response.text.slice(0, 300));
  assert.match(response.msg, problem);
};

test('the rebuilt workbook that these tests use is valid', async () => {
  const rows = await readSpreadsheet(await withSheet(sheetOf(row(1, '部门路径') + row(2, '总部'))), '');
  assert.deepEqual(
    rows.map(({ cells }) => cells[0]),
    ['部门路径', '总部'],
  );
});

test('a zip bomb is rejected, whether or not it states its size', async () => {
  // Packed once, a megabyte of spaces can be repeated: a flushed block does not refer to those before it.
  const pack = (data: Buffer) => zlib.deflateRawSync(data, { finishFlush: zlib.constants.Z_FULL_FLUSH });
  const spaces = Buffer.alloc(1_048_576, 0x20);
  const end = zlib.deflateRawSync(Buffer.alloc(0));
  const packed = Buffer.concat([pack(sheetOf('')), ...Array(210).fill(pack(spaces)), end]);
  const unpacked = sheetOf('').length + 210 * spaces.length;
  const stated = await withSheet(packed, unpacked, packed);
  assert.ok(stated.length < 1_000_000, 'it is small');
  await expectRejected(stated, 'FILE_UNREADABLE', /过大/);
  for (const size of sample([10_000, 0], 2))
    await expectRejected(await withSheet(packed, size, packed), 'FILE_UNREADABLE');
});

test('entities of a document type declaration are neither resolved nor expanded', async () => {
  const declaration = '<!DOCTYPE worksheet [<!ENTITY a "expanded"><!ENTITY b SYSTEM "file:///etc/passwd">]>';
  const sheet = String(sheetOf(row(1, '部门路径') + row(2, '&a;') + row(3, '&b;')));
  const workbook = await withSheet(Buffer.from(sheet.replace('?>', `?>${declaration}`)));
  const rows = await readSpreadsheet(workbook, '').catch((error) => {
    assert.equal(error.code, 'FILE_UNREADABLE');
    return [];
  });
  assert.doesNotMatch(JSON.stringify(rows), /expanded|root:/);
});

test('a sheet with too many rows and one with a cell far away are rejected', async () => {
  const endless = () => sheetOf(Array.from({ length: 100_100 }, (_, n) => row(n + 1, 'x')).join(''));
  if (isLong) await expectRejected(await withSheet(endless()), 'TOO_MANY_ROWS');
  await expectRejected(Buffer.from('a\n'.repeat(scale(100_100, 300_001))), 'TOO_MANY_ROWS');
  await expectRejected(
    Buffer.from(`部门路径\na\n${'\n'.repeat(scale(1_048_577, 52_000_000))}`),
    'FILE_UNREADABLE',
    /过大/,
  );
  const far = sheetOf(
    `${row(1, '部门路径') + row(2, '总部')}<row r="1048576"><c r="XFD1048576" t="n"><v>1</v></c></row>`,
  );
  await expectRejected(await withSheet(far), 'FILE_UNREADABLE');
});

test('a cell of more than 200,000 characters is rejected', async () => {
  const withPath = (length: number) => Buffer.from(`部门路径\n${'/'.repeat(length)}`);
  await expectRejected(withPath(200_001), 'FILE_UNREADABLE');
  const { data } = await importFile(tenant, 'dept', 'preview', withPath(200_000));
  assert.deepEqual([data.rows, data.errors], [1, 1]);
});

test('a small workbook whose cells repeat a long text thousands of times is rejected', async () => {
  const long = '长'.repeat(199_999);
  // A workbook stores the text once. The service would hold it once for each cell, also in columns that it ignores.
  const repeated = await xlsx([
    ['部门路径', '备注'],
    ...Array.from({ length: 300 }, (_, n): Cell[] => [`p${n}`, long]),
  ]);
  assert.ok(repeated.length < 100_000, 'it is small');
  const merged = await xlsx(
    [['备注', '部门路径', '状态'], ...Array.from({ length: 300 }, (_, n): Cell[] => [n === 0 ? long : null, `p${n}`])],
    { merges: [{ startRow: 1, endRow: 300, startCol: 0, endCol: 0 }] },
  );
  assert.ok(merged.length < 100_000, 'it is small');
  // Rows of spaces are ignored, but searching texts of so many spaces would take minutes.
  const blank = await xlsx([
    ['部门路径', '备注'],
    ...Array.from({ length: 300 }, (): Cell[] => [null, ' '.repeat(199_999)]),
  ]);
  for (const file of [repeated, merged, blank]) {
    for (const query of isLong ? ['', '&report=xlsx', '&report=csv'] : [file === repeated ? '&report=csv' : '']) {
      const response = await importFile(tenant, 'dept', 'preview', file, { query });
      assert.equal(response.data?.reason, 'FILE_UNREADABLE', response.text.slice(0, 300));
      assert.match(response.msg, /过大/);
    }
  }
});

test('a sheet with more than 200 columns is rejected; cells with only spaces far to the right are ignored', async () => {
  // Small in the file, and large in memory.
  const wide = `<row r="2">${'<c><v>1</v></c>'.repeat(16_384)}</row>`;
  await expectRejected(await withSheet(sheetOf(row(1, '部门路径') + wide)), 'FILE_UNREADABLE', /200 列/);
  const path = '<c r="A2" t="inlineStr"><is><t>a</t></is></c>';
  const blank = '<c r="XFD2" t="inlineStr"><is><t xml:space="preserve"> </t></is></c>';
  const file = await withSheet(sheetOf(`${row(1, '部门路径')}<row r="2">${path}${blank}</row>`));
  const rows = await readSpreadsheet(file, '');
  assert.deepEqual(rows, [
    { row: 1, cells: ['部门路径'] },
    { row: 2, cells: ['a'] },
  ]);
});

test('a file that takes too long or too much memory ends its worker, not the service', async () => {
  const file = await withSheet(sheetOf(Array.from({ length: 40_000 }, (_, n) => row(n + 1, `a${n}`)).join('')));
  await assert.rejects(readSpreadsheet(file, '', { readMs: 1, heapMegabytes: 512 }), { code: 'FILE_UNREADABLE' });
  await assert.rejects(readSpreadsheet(file, '', { readMs: 60_000, heapMegabytes: 16 }), { code: 'FILE_UNREADABLE' });
  assert.equal((await importFile(tenant, 'dept', 'preview', csv([['部门路径'], ['a']]))).code, 200);
});

test('the permission is checked before the file is read', async () => {
  const member = await service.createMember(tenant);
  // The body never ends: a response shows that the service did not wait for it.
  const { raw, headers } = form(csv([['部门路径'], ['a']]));
  for (const client of [member, service.anonymous]) {
    const response = await fetch(`${service.base}/system/dept-api/import?mode=apply`, {
      method: 'POST',
      headers: { ...headers, ...(client.token ? { authorization: `Bearer ${client.token}` } : {}) },
      body: new ReadableStream({ start: (controller) => controller.enqueue(raw.subarray(0, 50)) }),
      duplex: 'half',
    } as RequestInit);
    const { data } = (await response.json()) as { data: { reason: string } };
    assert.equal(data.reason, client === member ? 'NOT_ALLOWED' : 'NO_TOKEN');
  }
});

test('a key with `import` imports users, but neither makes nor changes an administrator', async () => {
  const { data } = await tenant.post('/system/key-api', { keyName: 'hr', permissions: ['import'] });
  const key = new Client(service.base, data.key);
  assert.equal((await importFile(key, 'user', 'apply', csv([['用户名'], ['by-key']]))).code, 200);
  const refused = await importFile(
    key,
    'user',
    'apply',
    csv([
      ['用户名', '角色'],
      ['by-key', '管理员'],
    ]),
  );
  assert.equal(refused.data.errors?.[0]?.reason, 'NOT_ALLOWED', refused.text);
  const boss = await importFile(
    key,
    'user',
    'apply',
    csv([
      ['用户名', '姓名'],
      ['boss', 'x'],
    ]),
  );
  assert.equal(boss.data.errors?.[0]?.reason, 'NOT_ALLOWED', boss.text);
  // Rows that change nothing may name administrators, such as those of an exported file.
  const unchanged = await importFile(
    key,
    'user',
    'apply',
    csv([
      ['用户名', '角色'],
      ['boss', '管理员'],
      ['by-key', '成员'],
    ]),
  );
  assert.equal(unchanged.code, 200, unchanged.text);
});

test('a body that is not a form with one file is rejected', async () => {
  const path = '/system/dept-api/import?mode=preview';
  assert.equal((await tenant.post(path, {})).data.reason, 'NOT_MULTIPART');
  const { raw, headers } = form(Buffer.from('a'), 'other');
  assert.equal((await tenant.post(path, undefined, { raw, headers })).data.reason, 'FILE_REQUIRED');
  assert.equal(
    (await tenant.post(path, undefined, { raw: raw.subarray(0, 60), headers })).data.reason,
    'FILE_REQUIRED',
  );
  const large = await importFile(tenant, 'dept', 'preview', Buffer.alloc(52_428_801));
  // The rest of the body is discarded, so the connection cannot be used again.
  assert.deepEqual([large.data.reason, large.headers.connection], ['BODY_TOO_LARGE', 'close']);
});

test('imports of one tenant that wait for each other leave room for those of other tenants', async () => {
  const other = await service.createTenant();
  const { headers } = form(csv([['部门路径'], ['a']]));
  const requests = Array.from({ length: 20 }, () => {
    const request = http.request(`${service.base}/system/dept-api/import?mode=preview`, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-length': 10_000,
        expect: '100-continue',
        authorization: `Bearer ${tenant.token}`,
      },
    });
    request.on('error', () => {});
    request.flushHeaders();
    return request;
  });
  // None of these requests sends its file. A 100 (Continue) response shows that the service has received the request.
  await Promise.all(requests.map((request) => once(request, 'continue')));
  for (let n = 0; n < 5; n++) assert.equal((await tenant.get('/auth/me')).code, 200);
  const response = await importFile(other, 'dept', 'preview', csv([['部门路径'], ['a']]));
  assert.equal(response.code, 200, response.text);
  for (const request of requests) request.destroy();
});

test('a form with two parts named `file` is rejected', async () => {
  const file = form(csv([['部门路径'], ['a']]));
  const second = {
    file: file.raw,
    field: Buffer.from(String(file.raw).replace('; filename="a.xlsx"', '').replace('octet-stream', 'x')),
  };
  for (const part of Object.values(second)) {
    const end = file.raw.lastIndexOf('--\r\n');
    const raw = Buffer.concat([
      file.raw.subarray(0, end),
      Buffer.from('\r\n'),
      part.subarray(part.indexOf('\r\n') + 2),
    ]);
    const { data } = await tenant.post('/system/dept-api/import?mode=preview', undefined, {
      raw,
      headers: file.headers,
    });
    assert.equal(data.reason, 'FILE_REQUIRED');
  }
});

/** Sends a large file and large JSON with fetch. Prints the statuses. */
const LARGE_BODIES = `
  const [base, token, files, texts] = process.argv.slice(1);
  const authorization = 'Bearer ' + token;
  const statuses = [];
  for (let n = 0; n < Number(files); n++) {
    const body = new FormData();
    body.set('file', new Blob([Buffer.alloc(55 * 1024 * 1024)]), 'a.xlsx');
    const url = base + '/system/dept-api/import?mode=preview';
    statuses.push((await fetch(url, { method: 'POST', headers: { authorization }, body })).status);
  }
  for (let n = 0; n < Number(texts); n++) {
    const headers = { authorization, 'content-type': 'application/json' };
    const body = JSON.stringify({ deptName: 'x'.repeat(5_000_000) });
    statuses.push((await fetch(base + '/system/dept-api', { method: 'POST', headers, body })).status);
  }
  console.log(statuses.join());
`;

test('clients get the error for a body that is too large while they are still sending it', async () => {
  const patient = await startService({ DATABASE_URL: service.databaseUrl }, { timing: { lingerMs: 600_000 } });
  const [files, texts] = [scale(1, 3), scale(3, 10)];
  const args = [patient.base, tenant.token ?? '', String(files), String(texts)];
  // Run the client in another process: in this one, it would always read before it sends more.
  const { stdout } = await promisify(execFile)(process.execPath, [
    '--input-type=module',
    '--eval',
    LARGE_BODIES,
    ...args,
  ]);
  assert.equal(
    stdout.trim(),
    Array(files + texts)
      .fill(413)
      .join(),
  );
});
