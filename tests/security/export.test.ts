import assert from 'node:assert/strict';
import type net from 'node:net';
import { test } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { decodeJwt } from 'jose';
import { decodeFormula } from '../../server/spreadsheets/formula.ts';
import { databaseOf, startNode } from '../faults/node.ts';
import { DEPTS, expectError, USERS } from '../support/expect.ts';
import { startService } from '../support/service.ts';
import { csvRowsOf, download, exportedRows, sheetsOf } from '../support/sheets.ts';
import { captureQueries, type Query } from '../support/statements.ts';
import { countOpenTransactions, dropSearchIndexes, insertDepartments, requestUnread } from '../support/trees.ts';
import { waitFor } from '../support/wait.ts';

/** Exported files that attack the program which opens them, and clients that do not read what they export. */

const service = await startService();
const admin = await service.createTenant();
const database = await databaseOf(service);

const FORMULAS = [
  ...['=HYPERLINK("http://example.com","x")', "+cmd|' /C calc'!A0", '-2+3+cmd', '@SUM(1+1)', '\t=1+1', '\r=1+1'],
  ...['＝1+1', "'=1+1", '=1,2"\r\n'],
];
const PLAIN = ['+86 138-0000-0000', '-5', 'a=b'];

test('no cell of an exported file is a formula, and every cell keeps its value', async () => {
  const texts = [...FORMULAS, ...PLAIN];
  const dept = await admin.createDepartment({ deptName: 'formulas' });
  for (const text of texts) {
    await admin.createDepartment({ deptName: text, leader: text, phone: text.slice(0, 32), parentId: dept });
  }
  for (const [n, text] of texts.entries()) {
    await admin.createUser({ userName: `user${n}`, nickName: text, phone: text.slice(0, 32), deptId: dept });
  }
  for (const [path, column] of [
    [`${DEPTS}/export?underId=${dept}`, '部门名称'],
    [`${USERS}/export?deptId=${dept}`, '姓名'],
  ] as const) {
    const { bytes } = await download(admin, path);
    // The first part of the file is the sheet. Its name follows 30 bytes of the header.
    const xml = String(inflateRawSync(bytes.subarray(30 + bytes.readUInt16LE(26))));
    assert.match(xml, /<worksheet/);
    assert.doesNotMatch(xml, /<f[\s>/]/);
    const [sheet] = await sheetsOf(bytes);
    const at = sheet?.rows[0]?.indexOf(column) ?? -1;
    assert.deepEqual(
      sheet?.rows.slice(1).map((row) => row[at]),
      texts,
    );
    const [header = [], ...rows] = csvRowsOf((await download(admin, `${path}&format=csv`)).bytes);
    const cells = rows.map((row) => row[header.indexOf(column)] ?? '');
    assert.deepEqual(
      cells,
      texts.map((text) => (PLAIN.includes(text) ? text : `'${text}`)),
    );
    assert.deepEqual(cells.map(decodeFormula), texts);
    // No other column has a cell that a program would evaluate.
    const dangerous = rows.flat().filter((cell) => /^[=+\-@\t\r\n＝]/.test(cell) && !/^[+-][\d ().-]+$/.test(cell));
    assert.deepEqual(dangerous, []);
  }
});

/** Departments with paths of 20 long names: 20 MB, more than the operating system buffers for two clients. */
const COUNT = 4_000;
const large = await service.createTenant();
await dropSearchIndexes(service.superuser);
await insertDepartments(service.superuser, large.tenantId, {
  first: 9_000_000,
  count: COUNT,
  parentOf: 'case when n <= 20 then nullif(n - 1, 0) else 20 end',
  name: `repeat('部', 90) || n`,
});
await service.superuser`analyze banyan.departments`;

test('clients that do not read an export hold no database connection or transaction and do not block other tenants', async () => {
  const queries: Query[] = [];
  const options = { connections: 1, timing: { streamQueueMs: 200 }, wrapDatabase: captureQueries(queries) };
  const node = await startNode(database, options);
  const open = new Set<net.Socket>();
  node.app.server.on('connection', (socket: net.Socket) => {
    open.add(socket.once('close', () => open.delete(socket)));
  });
  const client = node.as(large);
  const leaving = node.as(await service.logIn(large.tenantId, 'boss'));
  // Each page checks the session of its caller.
  const { sid } = decodeJwt(String(leaving.token));
  const countPages = () => queries.filter(({ parameters }) => String(parameters).includes(String(sid))).length;
  const unread = [
    await requestUnread(leaving, `${DEPTS}/export?format=csv`),
    await requestUnread(client, `${DEPTS}/export?format=csv`),
  ];
  const countStalled = () => [...open].filter((socket) => socket.writableLength > 0).length;
  await waitFor(
    'both exports wait for their clients',
    () => countStalled() === 2 && node.uses.begun === node.uses.ended,
  );
  // Background work has transactions too, but short ones. Those of the exports would stay open.
  await waitFor('no transaction is open', async () => (await countOpenTransactions(service.superuser)) === 0);
  // The node has one connection, and it is free.
  assert.equal((await client.get(`${DEPTS}/list`)).code, 200);
  assert.equal((await exportedRows(node.as(admin), `${USERS}/export?format=csv&userName=boss`)).length, 1);
  expectError(await client.get(`${DEPTS}/export?format=csv&status=1`), 503, 'TOO_BUSY');
  const read = countPages();
  assert.ok(read > 0);
  // One client leaves, which ends its export and makes room for another one. The other client goes on.
  unread[0]?.response.destroy();
  await waitFor('the first export has ended', () => countStalled() === 1);
  const rows = await waitFor('another export runs', async () => {
    const { status, bytes } = await download(client, `${DEPTS}/export?format=csv&deptName=${COUNT}`);
    return status === 200 && csvRowsOf(bytes).length;
  });
  assert.equal(rows, 2);
  // One page may have been in flight.
  assert.ok(countPages() <= read + 1, 'the export of the client that left reads nothing more');
  const rest = await unread[1]?.rest();
  assert.equal(rest?.complete, true);
  assert.equal(rest?.text().split('\r\n').length, COUNT + 1);
});

test('an export ends when its caller loses access', async () => {
  const other = await service.logIn(large.tenantId, 'boss');
  const { response, rest } = await requestUnread(other, `${DEPTS}/export?format=csv`);
  assert.equal(response.statusCode, 200);
  assert.equal((await other.post('/auth/logout')).code, 200);
  assert.equal((await rest()).complete, false);
});
