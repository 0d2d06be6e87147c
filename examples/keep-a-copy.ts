// Keeps a copy of the departments of a tenant in a file, and follows the change feed. After a crash or a lost connection it
// continues where it left off.
//
//   BANYAN_URL=http://localhost:8080 BANYAN_KEY=byk_… node examples/keep-a-copy.ts copy.json
//
// The key needs `change:read`.
import fs from 'node:fs';
import { call } from './banyan.ts';

interface Department {
  deptId: number;
  parentId: number;
  deptName: string;
}
interface Change {
  resource: string;
  resourceId: string;
  /** null: the record was deleted. */
  after: Department | null;
}
interface Copy {
  /** The position in the change feed up to which the copy is complete. */
  cursor: string;
  departments: Record<string, Department>;
}

const file = process.argv[2] ?? 'copy.json';
// The feed begins with the first change of the tenant, so that applying all of it makes a complete copy.
const copy: Copy = fs.existsSync(file) ? JSON.parse(fs.readFileSync(file, 'utf8')) : { cursor: '0', departments: {} };
for (;;) {
  // Long polling: the response comes as soon as there is a change, or after 20 seconds without one.
  const query = `after=${copy.cursor}&limit=1000&wait=20`;
  const { rows, next } = await call<{ rows: Change[]; next: string }>('GET', `/system/change-api?${query}`);
  const changes = rows.filter(({ resource }) => resource === 'department');
  for (const change of changes) apply(change);
  copy.cursor = next;
  save();
  for (const { after } of changes) if (after) console.log(pathOf(after));
}

/** Applying a change twice does no harm. */
function apply({ resourceId, after }: Change): void {
  if (!after) delete copy.departments[resourceId];
  else copy.departments[resourceId] = { deptId: after.deptId, parentId: after.parentId, deptName: after.deptName };
}

/**
 * Derives the path from the parents. Do not store `ancestors`: when a department moves, the feed has one change for it, and
 * none for the departments below, whose `ancestors` change too.
 */
function pathOf({ deptName, parentId }: Department): string {
  const parent = copy.departments[parentId];
  return parent ? `${pathOf(parent)}/${deptName}` : deptName;
}

/** Writes copy and cursor together: renaming a file is atomic, so a crash leaves the old state or the new one. */
function save(): void {
  fs.writeFileSync(`${file}.new`, JSON.stringify(copy));
  fs.renameSync(`${file}.new`, file);
}
