import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { etagOfText } from '../http/etag.ts';
import type { StaticContent } from '../http/static-content.ts';

/** The build's output, relative to dist/server/console. */
const BUILD_FOLDER = new URL('../../console/', import.meta.url);

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
  '.woff2': 'font/woff2',
};

const ENCODINGS = [
  { encoding: 'br', extension: '.br' },
  { encoding: 'gzip', extension: '.gz' },
];

/** The files of the console by URL path, such as `/assets/main-4f2a.js`. */
export type ConsoleFiles = ReadonlyMap<string, StaticContent>;

/**
 * Reads the files of the console. A missing folder counts as empty. All are kept in memory: they are few, and no path that a
 * client sends reaches the disk.
 */
export function readConsoleFiles(folder: URL = BUILD_FOLDER): ConsoleFiles {
  const root = fileURLToPath(folder);
  const files = new Map<string, StaticContent>();
  if (!fs.existsSync(root)) return files;
  const names = new Set(
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  );
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    // Skip files that are not served on their own: compressed versions, source maps, build metadata.
    if (!type) continue;
    const compressed = ENCODINGS.filter(({ extension }) => names.has(name + extension)).map(
      ({ encoding, extension }) => ({
        encoding,
        content: fs.readFileSync(path.join(root, name + extension)),
      }),
    );
    const content = fs.readFileSync(path.join(root, name));
    files.set(`/${name.split(path.sep).join('/')}`, { type, content, compressed, etag: etagOfText(content) });
  }
  return files;
}
