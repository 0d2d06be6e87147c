import fs from 'node:fs';
import { createRequire, register } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Generates two TypeScript clients from an OpenAPI document: `node client-generators.js <document> <folder>`. It is a separate
 * program, because it replaces a module: @hey-api/openapi-ts builds its output with the compiler API of older TypeScript
 * versions. This project's TypeScript no longer has that API, so the program uses the TypeScript that oazapfts depends on.
 */

const [document = '', folder = ''] = process.argv.slice(2);
const { resolve } = createRequire(createRequire(import.meta.url).resolve('oazapfts'));
const typescript = { url: pathToFileURL(resolve('typescript')).href, format: 'commonjs', shortCircuit: true };
const hook = `
  export const resolve = (specifier, context, next) =>
    specifier === 'typescript' ? ${JSON.stringify(typescript)} : next(specifier, context);`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);

const [heyApi, oazapfts] = await Promise.all([import('@hey-api/openapi-ts'), import('oazapfts')]);
await heyApi.createClient({
  input: document,
  output: { path: path.join(folder, 'hey-api'), importFileExtension: '.js' },
  plugins: ['@hey-api/typescript', '@hey-api/sdk', '@hey-api/client-fetch'],
  logs: { level: 'silent' },
});
fs.writeFileSync(path.join(folder, 'oazapfts.ts'), await oazapfts.generateSource(document));
