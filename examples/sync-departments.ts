// Brings the top-level departments of a tenant in line with a list, with the typed client: creates those that are missing and
// corrects leaders. Run it as often as you like; it changes only what differs.
//
//   BANYAN_URL=http://localhost:8080 BANYAN_KEY=byk_… node examples/sync-departments.ts departments.json
//
// departments.json: [{"deptName": "研发中心", "leader": "张三"}, …]
// The key needs `dept:read` and `dept:write`.
import fs from 'node:fs';
// In your own program: import { … } from '@banyan/client'
import { createClient, type Department, isApiError } from '../client/src/main.ts';

const client = createClient({ baseUrl: process.env.BANYAN_URL, key: process.env.BANYAN_KEY, language: 'en' });
const wanted: Pick<Department, 'deptName' | 'leader'>[] = JSON.parse(
  fs.readFileSync(process.argv[2] ?? 'departments.json', 'utf8'),
);

const existing = new Map<string, Department>();
for await (const department of client.iterate.listDepartments({ parentId: 0 })) {
  existing.set(department.deptName, department);
}

let [created, changed] = [0, 0];
for (const { deptName, leader } of wanted) {
  const department = existing.get(deptName);
  if (!department) {
    await client.createDepartment({ body: { deptName, leader } });
    created++;
  } else if (department.leader !== leader) {
    changed += await correctLeader(department.deptId, leader);
  }
}
console.log(`${created} created, ${changed} changed, ${wanted.length - created - changed} unchanged`);

/** Changes one field and keeps the others. Returns 0 if somebody has deleted the department meanwhile. */
async function correctLeader(id: number, leader: string | null): Promise<number> {
  try {
    await client.patchDepartment({ id, body: { leader } });
    return 1;
  } catch (error) {
    if (!isApiError(error, 'DEPT_NOT_FOUND')) throw error;
    return 0;
  }
}
