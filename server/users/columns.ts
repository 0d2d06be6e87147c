import { type Column, externalIdColumns } from '../spreadsheets/column.ts';
import { encodePath, encodePaths } from '../spreadsheets/path.ts';
import type { Examples } from '../spreadsheets/template.ts';
import { ROLE_WORDS, STATUS_WORDS } from '../spreadsheets/words.ts';
import type { User } from './schema.ts';

export type UserSheetRow = User & {
  /** The names of the main department's path; null: no main department. */
  deptPath: string[] | null;
  /** The paths of the additional departments. */
  deptPaths: string[][];
};

/** The columns of users in exports and imports. No column contains passwords: files are copied and sent around. */
export const USER_COLUMNS: readonly Column<UserSheetRow>[] = [
  {
    key: 'userId',
    header: { zh: '用户编号', en: 'User ID' },
    width: 20,
    imported: false,
    show: ({ userId }) => String(userId),
  },
  {
    key: 'userName',
    header: { zh: '用户名', en: 'User name' },
    aliases: ['登录名称', '登录名', '用户账号', '账号'],
    width: 18,
    imported: true,
    help: {
      zh: '1–50 个字符，在租户内唯一，不区分大小写。填写了外部编号的已有用户可以留空。',
      en: '1 to 50 characters, unique in the tenant, case-insensitive. May be empty for an existing user whose external ID is given.',
    },
    show: ({ userName }) => userName,
  },
  {
    key: 'nickName',
    header: { zh: '姓名', en: 'Name' },
    aliases: ['昵称', '用户昵称', '用户名称', 'nickname'],
    width: 16,
    imported: true,
    help: { zh: '最多 50 个字符。', en: 'At most 50 characters.' },
    show: ({ nickName }) => nickName,
  },
  {
    key: 'position',
    header: { zh: '职务', en: 'Position' },
    aliases: ['职位', '岗位', 'title', 'job title'],
    width: 16,
    imported: true,
    help: { zh: '最多 100 个字符。', en: 'At most 100 characters.' },
    show: ({ position }) => position,
  },
  {
    key: 'deptPath',
    header: { zh: '部门', en: 'Department' },
    aliases: ['部门路径', '所属部门', '主部门', 'department path', 'main department'],
    width: 36,
    imported: true,
    help: {
      zh: '主部门的路径，以“/”分隔，例如“总部/研发中心”。部门必须已存在。',
      en: 'The path of the main department, separated by "/", such as "Head office/R&D". The department must exist.',
    },
    show: ({ deptPath }) => deptPath && encodePath(deptPath),
  },
  {
    key: 'deptPaths',
    header: { zh: '兼任部门', en: 'Additional departments' },
    aliases: ['其他部门', '兼职部门'],
    width: 36,
    imported: true,
    help: {
      zh: '兼任部门的路径，每行一个（单元格内换行）。',
      en: 'The paths of the additional departments, one per line within the cell.',
    },
    show: ({ deptPaths }) => (deptPaths.length > 0 ? encodePaths(deptPaths) : null),
  },
  {
    key: 'phone',
    header: { zh: '手机号', en: 'Phone' },
    aliases: ['手机', '电话', '联系电话', '手机号码', 'phone number'],
    width: 18,
    imported: true,
    help: { zh: '文本，最多 32 个字符。', en: 'Text of at most 32 characters.' },
    show: ({ phone }) => phone,
  },
  {
    key: 'email',
    header: { zh: '邮箱', en: 'Email' },
    aliases: ['电子邮箱', '用户邮箱', 'e-mail'],
    width: 26,
    imported: true,
    help: { zh: '例如 name@example.com。', en: 'Such as name@example.com.' },
    show: ({ email }) => email,
  },
  {
    key: 'roles',
    header: { zh: '角色', en: 'Role' },
    width: 14,
    imported: true,
    help: {
      zh: '“管理员”或“成员”。留空时，新用户为成员，已有用户不变。',
      en: '"Administrator" or "Member". If empty, a new user becomes a member, and an existing user keeps their role.',
    },
    show: ({ roles }, language) => roles.map((role) => ROLE_WORDS[role][language]).join('\n'),
  },
  {
    key: 'status',
    header: { zh: '状态', en: 'Status' },
    aliases: ['帐号状态', '账号状态'],
    width: 10,
    imported: true,
    help: {
      zh: '“正常”或“停用”。留空时，新用户为正常，已有用户不变。',
      en: '"Normal" or "Disabled". If empty, a new user is normal, and an existing user keeps their status.',
    },
    show: ({ status }, language) => STATUS_WORDS[status][language],
  },
  ...externalIdColumns({
    zh: '用户在来源系统中的编号，最多 200 个字符。',
    en: 'The ID of the user in that system, at most 200 characters.',
  }),
  {
    key: 'createTime',
    header: { zh: '创建时间', en: 'Created' },
    width: 20,
    imported: false,
    show: ({ createTime }) => createTime,
  },
  {
    key: 'updateTime',
    header: { zh: '更新时间', en: 'Updated' },
    width: 20,
    imported: false,
    show: ({ updateTime }) => updateTime,
  },
];

export const USER_EXAMPLES: Examples = {
  zh: [
    {
      ...{
        userName: 'zhangsan',
        nickName: '张三',
        position: '研发经理',
        deptPath: '总部/研发中心',
        deptPaths: '总部/市场部\n总部/行政部',
      },
      ...{ phone: '13800000000', email: 'zhangsan@example.com', roles: '管理员', status: '正常' },
    },
    { userName: 'lisi', nickName: '李四', deptPath: '总部', phone: '+86 138-0000-0001', roles: '成员', status: '正常' },
  ],
  en: [
    {
      ...{
        userName: 'ann',
        nickName: 'Ann Lee',
        position: 'Head of R&D',
        deptPath: 'Head office/R&D',
        deptPaths: 'Head office/Sales',
      },
      ...{ phone: '+44 20 7946 0000', email: 'ann@example.com', roles: 'Administrator', status: 'Normal' },
    },
    { userName: 'ben', nickName: 'Ben Cole', deptPath: 'Head office', roles: 'Member', status: 'Normal' },
  ],
};
