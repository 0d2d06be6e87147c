import { createHash } from 'node:crypto';
import { isAcceptedHash, isBcrypt } from '../auth/password-hash.ts';
import { userKey } from '../auth/user-key.ts';
import { isAllowedUserName } from '../users/user-name.ts';
import type { Findings } from './findings.ts';
import { positionOf } from './posts.ts';
import { isAdministrator, type Links } from './roles.ts';
import type { Row } from './source.ts';
import { compareIds, type Placed, repairTree } from './tree.ts';
import { Values } from './values.ts';

/** The values of a department, as they are compared with those of the previous run. Ids are those of RuoYi. */
export interface DeptValues {
  parent: string | null;
  deptName: string;
  orderNum: number;
  leader: string | null;
  /** The user who leads it; then `leader` is null. Missing if Banyan does not have the user. */
  leaderUser?: string | null;
  phone: string | null;
  email: string | null;
  status: '0' | '1';
}

export interface UserValues {
  userName: string;
  nickName: string | null;
  /** The names of the user's posts; missing if the database has no posts. */
  position?: string | null;
  email: string | null;
  phone: string | null;
  status: '0' | '1';
  /** Missing if Banyan does not have the department. */
  dept?: string | null;
  administrator: boolean;
  /** A digest of the hash: it shows that the password changed in RuoYi. */
  password: string;
}

export interface Planned<T> {
  id: string;
  values: T;
}

export interface PlannedUser extends Planned<UserValues> {
  passwordHash: string;
}

export interface RecordPlan {
  /** Parents before their children. */
  departments: Planned<DeptValues>[];
  /** Sorted by id. */
  users: PlannedUser[];
}

export interface TenantRows {
  code: string;
  departments: readonly Row<'sys_dept'>[];
  users: readonly Row<'sys_user'>[];
}

export interface PlanOptions {
  links: Links;
  leaderIsUserId: boolean;
  maxLevels: number;
  /** The names of users of the tenant in Banyan that are not planned, in the form of `userKey`. */
  takenNames: ReadonlySet<string>;
}

export function planRecords(
  { code, departments, users }: TenantRows,
  options: PlanOptions,
  findings: Findings,
): RecordPlan {
  const placed = repairTree(code, departments, findings, options.maxLevels);
  const existing = users.filter((row) => row.del_flag === '0');
  const deleted = users.length - existing.length;
  const deletedDepts = departments.length - placed.length;
  if (deletedDepts > 0) findings.add('deptDeleted', code, `${deletedDepts} departments`);
  if (deleted > 0) findings.add('userDeleted', code, `${deleted} users`);
  reportUnplaced(code, existing, findings);
  const userIds = new Set(existing.map((row) => String(row.user_id)));
  const deptIds = new Set(placed.map(({ id }) => id));
  return {
    departments: placed.map((each) => planDepartment(code, each, userIds, options, findings)),
    users: planUsers(code, existing, deptIds, options, findings),
  };
}

function planDepartment(
  code: string,
  { row, id, parent }: Placed,
  userIds: ReadonlySet<string>,
  { leaderIsUserId }: PlanOptions,
  findings: Findings,
): Planned<DeptValues> {
  const values = new Values(findings, code, `department ${id}`);
  const text = row.leader?.trim() ?? '';
  // A text column may hold ids too, after an upgrade that did not change its type.
  const isUser = userIds.has(text);
  const isLost = leaderIsUserId && text !== '' && text !== '0' && !isUser;
  if (isLost) values.report('leader', text);
  if (row.dept_category?.trim()) values.report('noPlace', `dept_category: ${row.dept_category}`);
  return {
    id,
    values: {
      parent,
      deptName: values.text(row.dept_name, 100) ?? '',
      orderNum: values.integer(row.order_num, { min: -2_147_483_648, max: 2_147_483_647, missing: 0 }),
      leader: isUser || leaderIsUserId ? null : values.text(row.leader, 50),
      leaderUser: isUser ? text : null,
      phone: values.text(row.phone, 32),
      email: values.email(row.email),
      status: values.status(row.status),
    },
  };
}

function planUsers(
  code: string,
  rows: readonly Row<'sys_user'>[],
  deptIds: ReadonlySet<string>,
  { links, takenNames }: PlanOptions,
  findings: Findings,
): PlannedUser[] {
  const names = new Set(takenNames);
  const sorted = [...rows].sort((a, b) => compareIds(String(a.user_id), String(b.user_id)));
  return sorted.map((row) => {
    const id = String(row.user_id);
    const values = new Values(findings, code, `user ${id}`);
    const dept = row.dept_id === null || row.dept_id === '0' ? null : row.dept_id;
    if (dept !== null && !deptIds.has(dept)) values.report('userDepartment', `department ${dept}`);
    const hash = row.password?.trim() ?? '';
    const isUsable = isBcrypt(hash) && isAcceptedHash(hash);
    if (!isUsable) values.report('password');
    const passwordHash = isUsable ? hash : createUnusableHash(id);
    const position = positionOf(links, code, id, values);
    return {
      id,
      passwordHash,
      values: {
        userName: chooseName(id, row.user_name ?? '', names, values),
        nickName: values.text(row.nick_name, 50),
        ...(position === undefined ? {} : { position }),
        email: values.email(row.email),
        phone: values.text(row.phonenumber, 32),
        status: values.status(row.status),
        dept: dept !== null && deptIds.has(dept) ? dept : null,
        administrator: isAdministrator(links, code, id, findings),
        password: createHash('sha256').update(passwordHash).digest('hex'),
      },
    };
  });
}

/** Chooses the first name that is allowed and free, and marks it as taken. */
function chooseName(id: string, original: string, taken: Set<string>, values: Values): string {
  const cleaned = original.normalize('NFKC').replace(/[\s\0]+/g, '');
  const candidates = [original, cleaned, `${cleaned}-${id}`, `ruoyi-${id}`];
  const isFree = (name: string) => [...name].length <= 50 && isAllowedUserName(name) && !taken.has(userKey(name));
  const chosen = candidates.find(isFree);
  if (chosen === undefined) throw new Error(`A user in Banyan has the name ruoyi-${id}. Rename that user first.`);
  if (chosen !== original) values.report('userName', `${original} → ${chosen}`);
  taken.add(userKey(chosen));
  return chosen;
}

const BCRYPT_CHARACTERS = './ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/** Returns a text in the form of a bcrypt hash that matches no known password. It is the same in every run. */
function createUnusableHash(id: string): string {
  const bytes = createHash('sha512').update(`no password ${id}`).digest().subarray(0, 53);
  const characters = [...bytes].map((byte) => BCRYPT_CHARACTERS[byte % 64] as string);
  // The last characters of salt and hash have unused bits, which are zero.
  characters[21] = '.';
  characters[52] = '.';
  return `$2b$10$${characters.join('')}`;
}

/** Counts the values of users that Banyan has no field for. */
function reportUnplaced(code: string, rows: readonly Row<'sys_user'>[], findings: Findings): void {
  const hasValue = {
    sex: ({ sex }: Row<'sys_user'>) => sex === '0' || sex === '1',
    avatar: ({ avatar }: Row<'sys_user'>) => Boolean(avatar?.trim()),
    remark: ({ remark }: Row<'sys_user'>) => Boolean(remark?.trim()),
    user_type: ({ user_type }: Row<'sys_user'>) => Boolean(user_type?.trim()) && user_type !== 'sys_user',
  };
  for (const [column, has] of Object.entries(hasValue)) {
    const count = rows.filter(has).length;
    if (count > 0) findings.add('noPlaceUsers', code, `${column} of ${count} users`);
  }
}
