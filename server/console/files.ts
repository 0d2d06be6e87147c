import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

/** A file of the console, held in memory: there are few, and nothing that a caller sends is ever looked up on the disk. */
export interface ConsoleFile {
  type: string;
  content: Buffer;
  /** The same packed, the smallest first. */
  packed: { encoding: string; content: Buffer }[];
}

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

const PACKED = [
  { encoding: 'br', ending: '.br' },
  { encoding: 'gzip', ending: '.gz' },
];

/** By their path in an address: `/assets/main-4f2a.js`. None where there is no such folder. */
export function readFiles(folder: URL): Map<string, ConsoleFile> {
  const root = fileURLToPath(folder);
  const files = new Map<string, ConsoleFile>();
  if (!fs.existsSync(root)) return files;
  const names = new Set(
    fs
      .readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name))),
  );
  for (const name of names) {
    const type = TYPES[path.extname(name)];
    // What packs others, and what a browser has no use for (maps, notes of the build), is not served by itself.
    if (!type) continue;
    const packed = PACKED.filter(({ ending }) => names.has(name + ending)).map(({ encoding, ending }) => ({
      encoding,
      content: fs.readFileSync(path.join(root, name + ending)),
    }));
    const content = fs.readFileSync(path.join(root, name));
    files.set(`/${name.split(path.sep).join('/')}`, { type, content, packed });
  }
  return files;
}
