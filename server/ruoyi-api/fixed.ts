import type { Permission } from '../auth/permissions.ts';
import type { Language } from '../http/errors.ts';
import { notOffered } from './responses.ts';

/** RuoYi stores these in tables, Banyan has constants: roles, permissions, menus, dictionaries and parameters. */

type Text = Record<Language, string>;
type Role = 'admin' | 'member';

const roles: { roleId: number; roleKey: Role; roleName: Text }[] = [
  { roleId: 1, roleKey: 'admin', roleName: { zh: '管理员', en: 'Administrator' } },
  { roleId: 2, roleKey: 'member', roleName: { zh: '成员', en: 'Member' } },
];

/** The two roles. `flag` marks those that a user has. */
export const showRoles = (held: readonly string[], language: Language) =>
  roles.map(({ roleId, roleKey, roleName }) => ({
    roleId,
    roleName: roleName[language],
    roleKey,
    roleSort: roleId,
    dataScope: '1',
    status: '0',
    flag: held.includes(roleKey),
    superAdmin: roleKey === 'admin',
  }));

export const roleIdsOf = (held: readonly string[]): number[] =>
  roles.filter(({ roleKey }) => held.includes(roleKey)).map(({ roleId }) => roleId);

/** The roles with these ids. A user has at least the role of a member. */
export function rolesWithIds(roleIds: readonly (number | string)[]): Role[] {
  const found = roleIds.map((id) => {
    const role = roles.find(({ roleId }) => roleId === Number(id));
    if (!role) throw notOffered(`roleIds ${id}`);
    return role.roleKey;
  });
  return found.includes('admin') ? ['admin'] : ['member'];
}

const ruoyiPermissions: Partial<Record<Permission, string[]>> = {
  'dept:read': ['system:dept:list', 'system:dept:query'],
  'dept:write': ['system:dept:add', 'system:dept:edit', 'system:dept:remove'],
  'user:read': ['system:user:list', 'system:user:query'],
  'user:write': ['system:user:add', 'system:user:edit', 'system:user:remove', 'system:user:resetPwd'],
  'tenant:read': ['system:tenant:list', 'system:tenant:query'],
  'tenant:write': ['system:tenant:add', 'system:tenant:edit', 'system:tenant:remove'],
};

/** RuoYi's names of a caller's permissions. */
export const showPermissions = (held: ReadonlySet<Permission>, isAdministrator: boolean): string[] =>
  isAdministrator ? ['*:*:*'] : [...held].flatMap((permission) => ruoyiPermissions[permission] ?? []);

interface Screen {
  name: string;
  path: string;
  component: string;
  icon: string;
  title: Text;
  requires: Permission;
}
const menus: { name: string; path: string; icon: string; title: Text; screens: Screen[] }[] = [
  {
    name: 'System',
    path: '/system',
    icon: 'system',
    title: { zh: '系统管理', en: 'System' },
    screens: [
      {
        name: 'User',
        path: 'user',
        component: 'system/user/index',
        icon: 'user',
        title: { zh: '用户管理', en: 'Users' },
        requires: 'user:read',
      },
      {
        name: 'Dept',
        path: 'dept',
        component: 'system/dept/index',
        icon: 'tree',
        title: { zh: '部门管理', en: 'Departments' },
        requires: 'dept:read',
      },
    ],
  },
  {
    name: 'TenantManagement',
    path: '/tenant',
    icon: 'chart',
    title: { zh: '租户管理', en: 'Tenants' },
    screens: [
      {
        name: 'Tenant',
        path: 'tenant',
        component: 'system/tenant/index',
        icon: 'list',
        title: { zh: '租户管理', en: 'Tenants' },
        requires: 'tenant:read',
      },
    ],
  },
];

/** The menu of a front end: the screens that the caller may see. */
export const showMenus = (held: ReadonlySet<Permission>, language: Language) =>
  menus
    .map((menu) => ({ ...menu, screens: menu.screens.filter(({ requires }) => held.has(requires)) }))
    .filter(({ screens }) => screens.length > 0)
    .map(({ name, path, icon, title, screens }) => ({
      name,
      path,
      hidden: false,
      redirect: 'noRedirect',
      component: 'Layout',
      alwaysShow: true,
      meta: { title: title[language], icon, noCache: false, link: null },
      children: screens.map((screen) => ({
        name: screen.name,
        path: screen.path,
        hidden: false,
        component: screen.component,
        meta: { title: screen.title[language], icon: screen.icon, noCache: false, link: null },
      })),
    }));

/** The dictionaries of these screens. Banyan does not store the sex of users, so only "unknown" can be chosen. */
const dictionaries: Record<string, { value: string; label: Text; listClass: string }[]> = {
  sys_normal_disable: [
    { value: '0', label: { zh: '正常', en: 'Normal' }, listClass: 'primary' },
    { value: '1', label: { zh: '停用', en: 'Disabled' }, listClass: 'danger' },
  ],
  sys_user_sex: [{ value: '2', label: { zh: '未知', en: 'Unknown' }, listClass: '' }],
  sys_show_hide: [
    { value: '0', label: { zh: '显示', en: 'Shown' }, listClass: 'primary' },
    { value: '1', label: { zh: '隐藏', en: 'Hidden' }, listClass: 'danger' },
  ],
  sys_yes_no: [
    { value: 'Y', label: { zh: '是', en: 'Yes' }, listClass: 'primary' },
    { value: 'N', label: { zh: '否', en: 'No' }, listClass: 'danger' },
  ],
  sys_device_type: [{ value: 'pc', label: { zh: 'PC', en: 'PC' }, listClass: 'default' }],
};

export function showDictionary(dictType: string, language: Language) {
  const entries = Object.hasOwn(dictionaries, dictType) ? dictionaries[dictType] : undefined;
  if (!entries) throw notOffered(`/system/dict/data/type/${dictType.slice(0, 100)}`);
  return entries.map(({ value, label, listClass }, n) => ({
    dictCode: n + 1,
    dictSort: n + 1,
    dictLabel: label[language],
    dictValue: value,
    dictType,
    cssClass: '',
    listClass,
    isDefault: n === 0 ? 'Y' : 'N',
    remark: null,
    createTime: null,
  }));
}

/** There is no shared initial password, and users cannot register themselves. */
const parameters: Record<string, string> = { 'sys.user.initPassword': '', 'sys.account.registerUser': 'false' };

export function showParameter(configKey: string): string {
  const value = Object.hasOwn(parameters, configKey) ? parameters[configKey] : undefined;
  if (value === undefined) throw notOffered(`/system/config/configKey/${configKey.slice(0, 100)}`);
  return value;
}
