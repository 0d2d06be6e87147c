import { createRequire } from 'node:module';

// From dist/server.
export const version: string = createRequire(import.meta.url)('../../package.json').version;
