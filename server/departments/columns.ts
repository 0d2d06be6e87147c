import { type Column, externalIdColumns } from '../spreadsheets/column.ts';
import { encodePath } from '../spreadsheets/path.ts';
import type { Examples } from '../spreadsheets/template.ts';
import { STATUS_WORDS } from '../spreadsheets/words.ts';
import type { Dept } from './schema.ts';

export type DepartmentSheetRow = Dept & {
  /** Names from the top down to the parent. */
  pathNames: string[];
  parentExternalId: string | null;
};

/** The columns of departments in exports and imports. */
export const DEPARTMENT_COLUMNS: readonly Column<DepartmentSheetRow>[] = [
  {
    key: 'deptId',
    header: { zh: '部门编号', en: 'Department ID' },
    width: 20,
    imported: false,
    show: ({ deptId }) => String(deptId),
  },
  {
    key: 'path',
    header: { zh: '部门路径', en: 'Department path' },
    aliases: ['部门', '部门全路径'],
    width: 40,
    imported: true,
    help: {
      zh: '从顶级部门到本部门的名称，以“/”分隔，例如“总部/研发中心”。名称中的“/”写作“\\/”，“\\”写作“\\\\”。填写了外部编号时可以留空。',
      en: 'The names from the top level down to this department, separated by "/", such as "Head office/R&D". Write "/" in a name as "\\/" and "\\" as "\\\\". May be empty if the external ID is given.',
    },
    show: ({ pathNames, deptName }) => encodePath([...pathNames, deptName]),
  },
  {
    key: 'deptName',
    header: { zh: '部门名称', en: 'Department name' },
    aliases: ['名称', 'name'],
    width: 20,
    imported: true,
    help: {
      zh: '填写了部门路径时可以留空，以路径中最后一级的名称为准。最多 100 个字符。',
      en: 'May be empty if the path is given: its last name is used. At most 100 characters.',
    },
    show: ({ deptName }) => deptName,
  },
  {
    key: 'orderNum',
    header: { zh: '显示顺序', en: 'Display order' },
    aliases: ['排序', '显示排序', 'order'],
    width: 10,
    imported: true,
    isNumber: true,
    help: { zh: '整数，数字小的排在前面。', en: 'An integer. Smaller numbers come first.' },
    show: ({ orderNum }) => orderNum,
  },
  {
    key: 'leader',
    header: { zh: '负责人', en: 'Leader' },
    width: 14,
    imported: true,
    help: { zh: '负责人姓名，最多 50 个字符。', en: "The leader's name, at most 50 characters." },
    show: ({ leader }) => leader,
  },
  {
    key: 'phone',
    header: { zh: '联系电话', en: 'Phone' },
    aliases: ['电话', '手机', '手机号码', 'phone number'],
    width: 18,
    imported: true,
    help: { zh: '文本，最多 32 个字符。', en: 'Text of at most 32 characters.' },
    show: ({ phone }) => phone,
  },
  {
    key: 'email',
    header: { zh: '邮箱', en: 'Email' },
    aliases: ['电子邮箱', 'e-mail'],
    width: 26,
    imported: true,
    help: { zh: '例如 rd@example.com。', en: 'Such as rd@example.com.' },
    show: ({ email }) => email,
  },
  {
    key: 'status',
    header: { zh: '状态', en: 'Status' },
    aliases: ['部门状态'],
    width: 10,
    imported: true,
    help: {
      zh: '“正常”或“停用”。留空时，新部门为正常，已有部门不变。',
      en: '"Normal" or "Disabled". If empty, a new department is normal, and an existing one stays as it is.',
    },
    show: ({ status }, language) => STATUS_WORDS[status][language],
  },
  ...externalIdColumns({
    zh: '部门在来源系统中的编号，最多 200 个字符。填写后按此编号查找部门，名称和位置可以变化。',
    en: 'The ID of the department in that system, at most 200 characters. If given, the department is found by it, so its name and position may change.',
  }),
  {
    key: 'parentExternalId',
    header: { zh: '上级外部编号', en: 'Parent external ID' },
    aliases: ['上级外部ID', '上级部门外部编号'],
    width: 20,
    imported: true,
    help: {
      zh: '上级部门在同一来源系统中的编号。按外部编号导入且未填写路径时使用。留空时，新部门为顶级部门，已有部门位置不变。',
      en: 'The ID of the parent department in the same system. Used with the external ID if the path is empty. If empty, a new department is at the top level, and an existing one stays where it is.',
    },
    show: ({ parentExternalId }) => parentExternalId,
  },
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

export const DEPARTMENT_EXAMPLES: Examples = {
  zh: [
    { path: '总部', orderNum: 1, leader: '张三', phone: '13800000000', email: 'zhangsan@example.com', status: '正常' },
    { path: '总部/研发中心', orderNum: 1, leader: '李四', phone: '+86 138-0000-0001', status: '正常' },
  ],
  en: [
    {
      path: 'Head office',
      orderNum: 1,
      leader: 'Ann Lee',
      phone: '+44 20 7946 0000',
      email: 'ann@example.com',
      status: 'Normal',
    },
    { path: 'Head office/R&D', orderNum: 1, leader: 'Ben Cole', status: 'Normal' },
  ],
};
