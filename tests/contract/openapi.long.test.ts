// Only with test:long: loading Redocly takes a second of CPU time; contract/openapi tests our own rules, and contract/openapi-responses compiles the schemas.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Config, createConfig, lintFromString } from '@redocly/openapi-core';
import { readDocument } from '../support/openapi.ts';
import { shareService } from '../support/service.ts';

/** A narrow type: with the real type, checking this one call would take the compiler as long as checking a tenth of all files. */
const configure = createConfig as unknown as (settings: { extends: string[] }) => Promise<Config>;

const document = await readDocument(await shareService());

test('the document is valid OpenAPI 3.1 and passes the recommended Redocly rules', async () => {
  assert.match(document.openapi, /^3\.1\.\d+$/);
  const config = await configure({ extends: ['recommended'] });
  const source = JSON.stringify(document, null, 2);
  const problems = await lintFromString({ source, absoluteRef: '/openapi.json', config });
  const messages = problems.map(
    ({ severity, ruleId, message, location }) => `${severity} ${ruleId} ${message} ${location[0]?.pointer}`,
  );
  // Warnings count too.
  assert.deepEqual(messages, []);
});
