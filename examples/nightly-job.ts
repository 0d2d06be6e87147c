// Creates users who are in a list from the HR system but do not exist yet, and disables those who are no longer in it. It
// does not update other users. Run it as often as you like.
//
//   BANYAN_URL=http://localhost:8080 BANYAN_KEY=byk_… node examples/nightly-job.ts people.json
//
// people.json: [{"userName": "zhang.wei", "nickName": "张伟", "deptId": 101}, …]
// The key needs `user:read` and `user:write`.
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { call } from './banyan.ts';

interface Person {
  userName: string;
  nickName?: string;
  deptId?: number;
}
interface User extends Person {
  userId: number;
  status: '0' | '1';
  roles: string[];
}
interface Page {
  rows: User[];
  next: string | null;
}

const people: Person[] = JSON.parse(fs.readFileSync(process.argv[2] ?? 'people.json', 'utf8'));
const users = await readAllUsers();
// User names are case-insensitive.
const known = new Set(users.map(({ userName }) => userName.toLowerCase()));
const listed = new Set(people.map(({ userName }) => userName.toLowerCase()));

const toCreate = people.filter(({ userName }) => !known.has(userName.toLowerCase()));
for (let n = 0; n < toCreate.length; n += 1_000) {
  // One request creates all of its users or none. `ref` names the row in errors.
  await call('POST', '/system/user-api/bulk', {
    users: toCreate.slice(n, n + 1_000).map((person) => ({
      ref: person.userName,
      ...person,
      password: randomBytes(24).toString('base64url'),
      mustChangePassword: true,
    })),
  });
}

const toDisable = users.filter(({ userName, status, roles }) => {
  // Administrators are not in the list of the HR system.
  return status === '0' && !roles.includes('admin') && !listed.has(userName.toLowerCase());
});
for (const { userId } of toDisable) {
  // PATCH changes this field and keeps all others.
  await call('PATCH', `/system/user-api/${userId}`, { status: '1' });
}

console.log(`${toCreate.length} created, ${toDisable.length} disabled, ${users.length - toDisable.length} unchanged`);

async function readAllUsers(): Promise<User[]> {
  const all: User[] = [];
  for (let cursor: string | null = ''; cursor !== null; ) {
    const page: Page = await call<Page>('GET', `/system/user-api/list?pageSize=500&cursor=${cursor}`);
    all.push(...page.rows);
    cursor = page.next;
  }
  return all;
}
