import { createRequire } from 'node:module';

// The path is relative to dist/server.
export const version: string = createRequire(import.meta.url)('../../package.json').version;
