import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { project } from '../support/process.ts';

/** The compiled files that `npm pack` puts into the package, and the dependencies that npm installs with them. */

test('every package that the service imports is a dependency', () => {
  const { dependencies } = JSON.parse(fs.readFileSync(path.join(project, 'package.json'), 'utf8'));
  const names = ['dist/server', 'dist/db'].flatMap((folder) =>
    fs
      .readdirSync(path.join(project, folder), { recursive: true, encoding: 'utf8' })
      .map((name) => `${folder}/${name}`),
  );
  const found = new Set<string>();
  for (const name of names.filter((each) => each.endsWith('.js'))) {
    const source = fs.readFileSync(path.join(project, name), 'utf8');
    const imports = source.matchAll(/^(?:import|export|\}).* from '([^'.][^']*)'|\bimport\('([^'.][^']*)'\)/gm);
    for (const [, statement, expression] of imports) {
      const specifier = String(statement ?? expression);
      if (specifier.startsWith('node:')) continue;
      const dependency = specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
      found.add(dependency);
      assert.ok(Object.hasOwn(dependencies, dependency), `${name} imports ${specifier}`);
    }
  }
  assert.ok(found.has('fastify') && found.has('postgres'), String([...found]));
});
