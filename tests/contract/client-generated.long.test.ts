// Only with test:long: generating the client takes four seconds of CPU time; contract/client compares the digest of the document.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterFile } from '../support/cleanup.ts';
import { readDocument } from '../support/openapi.ts';
import { shareService } from '../support/service.ts';

const service = await shareService();
const root = fileURLToPath(new URL('../../..', import.meta.url));

test('the generated files of the client are up to date with the OpenAPI document', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'banyan-client-'));
  afterFile(() => fs.rmSync(folder, { recursive: true }));
  const document = path.join(folder, 'openapi.json');
  fs.writeFileSync(document, JSON.stringify(await readDocument(service)));
  await promisify(execFile)(process.execPath, [path.join(root, 'scripts/generate-client.js'), document, folder]);
  for (const name of ['operations.ts', 'types.ts']) {
    const checkedIn = fs.readFileSync(path.join(root, 'client/src/generated', name), 'utf8');
    const isCurrent = checkedIn === fs.readFileSync(path.join(folder, name), 'utf8');
    assert.ok(isCurrent, `client/src/generated/${name} is out of date: run npm run generate-client`);
  }
});
