import type { Tx } from '../../db/driver.ts';
import type { Caller } from '../auth/caller.ts';
import type { Session } from '../auth/schema.ts';
import { departmentNames } from '../departments/members.ts';
import type { Dept } from '../departments/schema.ts';
import type { Language } from '../http/errors.ts';
import type { ListedTenant } from '../tenants/schema.ts';
import type { User } from '../users/schema.ts';
import { roleIdsOf, showRoles } from './fixed.ts';

/**
 * Maps our records to RuoYi's. What Banyan does not store is null or empty, and the sex of users is `2` (unknown). Ids
 * of departments and users are at most 2^53-1.
 */

export const showDept = (dept: Dept, parentName: string | null = null) => ({
  deptId: dept.deptId,
  parentId: dept.parentId,
  parentName,
  ancestors: dept.ancestors,
  deptName: dept.deptName,
  deptCategory: null,
  orderNum: dept.orderNum,
  leader: dept.leader,
  leaderName: dept.leader,
  phone: dept.phone,
  email: dept.email,
  status: dept.status,
  createTime: dept.createTime,
});

export const showTenant = (tenant: ListedTenant) => ({
  // A number in RuoYi, but JavaScript would round it.
  id: tenant.id,
  tenantId: tenant.tenantId,
  contactUserName: tenant.contactUserName,
  contactPhone: tenant.contactPhone,
  companyName: tenant.companyName ?? tenant.tenantName,
  licenseNumber: null,
  address: null,
  domain: null,
  intro: null,
  remark: null,
  packageId: null,
  // The last day of service is included.
  expireTime: tenant.endTime === null ? null : `${tenant.endTime} 23:59:59`,
  accountCount: tenant.accountCount,
  status: tenant.status,
});

/** With the names of their departments, if the caller may read departments. */
export async function showUsers(tx: Tx, caller: Caller, users: readonly User[], language: Language) {
  const deptIds = caller.permissions.has('dept:read') ? users.flatMap(({ deptId }) => deptId ?? []) : [];
  const names = await departmentNames(tx, caller.tenantId, deptIds);
  return users.map((user) => ({
    userId: user.userId,
    tenantId: user.tenantId,
    deptId: user.deptId,
    userName: user.userName,
    nickName: user.nickName,
    userType: 'sys_user',
    email: user.email,
    phonenumber: user.phone,
    sex: '2',
    avatar: null,
    status: user.status,
    loginIp: null,
    loginDate: null,
    remark: null,
    createTime: user.createTime,
    deptName: user.deptId === null ? null : (names.get(user.deptId) ?? null),
    roles: showRoles(user.roles, language).filter(({ flag }) => flag),
    roleIds: roleIdsOf(user.roles),
    postIds: [],
    roleId: null,
  }));
}
type RuoyiUser = Awaited<ReturnType<typeof showUsers>>[number];

export async function showUser(tx: Tx, caller: Caller, user: User, language: Language): Promise<RuoyiUser> {
  const [shown] = await showUsers(tx, caller, [user], language);
  return shown as RuoyiUser;
}

export const showSession = ({ sessionId, address, userAgent, createTime }: Session) => ({
  tokenId: sessionId,
  deviceType: 'pc',
  ipaddr: address,
  loginLocation: '',
  browser: userAgent,
  os: '',
  loginTime: createTime,
});
