import type { Findings } from './findings.ts';
import type { Row, Source } from './source.ts';

/** The keys of RuoYi's administrator roles: of the platform, and of each tenant. */
const ADMINISTRATOR_KEYS = ['superadmin', 'admin'];
/** RuoYi treats this user as an administrator of everything, whatever their roles are. */
const SUPER_ADMIN_ID = '1';

/** The links between users, roles, departments and posts, by the ids in the first column of each table. */
export interface Links {
  roles: ReadonlyMap<string, Row<'sys_role'>>;
  rolesOfUser: ReadonlyMap<string, string[]>;
  /** Undefined if the database has no table of posts, or of the posts of users. */
  posts: ReadonlyMap<string, Row<'sys_post'>> | undefined;
  postsOfUser: ReadonlyMap<string, string[]>;
  deptsOfRole: ReadonlyMap<string, string[]>;
}

export const indexLinks = (source: Source): Links => ({
  roles: new Map(source.sys_role.map((row) => [String(row.role_id), row])),
  rolesOfUser: group(source.sys_user_role.map((row) => [row.user_id, row.role_id])),
  posts: source.hasPosts ? new Map(source.sys_post.map((row) => [String(row.post_id), row])) : undefined,
  postsOfUser: group(source.sys_user_post.map((row) => [row.user_id, row.post_id])),
  deptsOfRole: group(source.sys_role_dept.map((row) => [row.role_id, row.dept_id])),
});

function group(pairs: readonly (readonly [string | null, string | null])[]): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const [key, value] of pairs) {
    const values = groups.get(String(key));
    if (values) values.push(String(value));
    else groups.set(String(key), [String(value)]);
  }
  return groups;
}

/** Whether a user of a tenant becomes an administrator. A role of another tenant does not count. */
export function isAdministrator(links: Links, tenant: string, userId: string, findings: Findings): boolean {
  let found = userId === SUPER_ADMIN_ID;
  for (const roleId of links.rolesOfUser.get(userId) ?? []) {
    const role = links.roles.get(roleId);
    if (!role || role.tenant_id?.trim() !== tenant || role.del_flag !== '0' || role.status !== '0') {
      findings.add('roleLink', tenant, `user ${userId}`, `role ${roleId}`);
    } else if (ADMINISTRATOR_KEYS.includes(role.role_key ?? '')) found = true;
  }
  return found;
}

/**
 * Returns the roles and posts of a tenant, and which users have them, for a later version of Banyan that can store them. Ids are
 * those of RuoYi.
 */
export function describeRoles(source: Source, links: Links, tenant: string, users: readonly string[]) {
  const ofTenant = <T extends { tenant_id: string | null }>(rows: T[]) =>
    rows.filter(({ tenant_id }) => tenant_id?.trim() === tenant);
  return {
    roles: ofTenant(source.sys_role)
      .filter(({ del_flag }) => del_flag === '0')
      .map((role) => ({
        roleId: role.role_id,
        roleKey: role.role_key,
        roleName: role.role_name,
        dataScope: role.data_scope,
        status: role.status,
        deptIds: links.deptsOfRole.get(String(role.role_id)) ?? [],
      })),
    posts: ofTenant(source.sys_post).map((post) => ({
      postId: post.post_id,
      postCode: post.post_code,
      postName: post.post_name,
      status: post.status,
    })),
    users: users
      .map((userId) => ({
        userId,
        roleIds: links.rolesOfUser.get(userId) ?? [],
        postIds: links.postsOfUser.get(userId) ?? [],
      }))
      .filter(({ roleIds, postIds }) => roleIds.length + postIds.length > 0),
  };
}
