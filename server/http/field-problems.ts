import type { Language } from './errors.ts';

/** The text of two problems: in a CSV file the cell is text (`scientific`), in an xlsx file a number (`scientificCell`). */
const scientific = {
  zh: '是科学计数法，部分数字已丢失，请将单元格格式改为文本后重新填写',
  en: 'is in scientific notation and has lost digits. Format the cell as text and enter it again',
};

/**
 * What is wrong with the value of a field. Messages begin with the name of the field, followed by one of these texts. Schemas
 * refer to them by `x-problem`.
 */
export const problems = {
  text: { zh: '不能包含 NUL 或不成对的代理字符', en: 'must not contain NUL or unpaired surrogates' },
  long: {
    zh: '必须是 0 到 9007199254740991 之间的整数，或不超过 9223372036854775807 的数字字符串',
    en: 'must be an integer from 0 to 9007199254740991, or a string of digits up to 9223372036854775807',
  },
  otherId: { zh: '必须与路径中的编号一致', en: 'must be the id in the path' },
  id: { zh: '必须是不超过 19 位的数字', en: 'must consist of 1 to 19 digits' },
  uuid: { zh: '必须是 UUID', en: 'must be a UUID' },
  ids: {
    zh: '必须是以逗号分隔的编号，每个编号不超过 19 位数字',
    en: 'must be a comma-separated list of ids of 1 to 19 digits',
  },
  menuIdsLength: {
    zh: '不能超过 65536 个字符（不含空格）',
    en: 'must not have more than 65536 characters, not counting spaces',
  },
  menuIds: { zh: '必须是以逗号分隔的数字', en: 'must be a comma-separated list of numbers' },
  date: { zh: '必须是 YYYY-MM-DD 格式的有效日期', en: 'must be a valid date in the format YYYY-MM-DD' },
  beforeStartTime: { zh: '不能早于 startTime', en: 'must not be before startTime' },
  email: { zh: '必须是有效的邮箱地址', en: 'must be a valid email address' },
  duplicate: { zh: '重复传递，请只传一次', en: 'must be sent only once' },
  single: { zh: '只能用于单个编号', en: 'can only be used with a single id' },
  deleted: { zh: '不能是将被删除的部门', en: 'must not be one of the departments to be deleted' },
  onlyWithMove: { zh: '只能与 users=move 同时使用', en: 'can only be used with users=move' },
  onlyWithPreview: { zh: '只能与 mode=preview 同时使用', en: 'can only be used with mode=preview' },
  repeated: { zh: '不能重复', en: 'must be unique' },
  row: { zh: '必须是对象', en: 'must be of type object' },
  passwordHash: {
    zh: '必须是 argon2id（PHC 格式，m ≤ 65536，m × t ≤ 262144，p ≤ 16）或 bcrypt（cost ≤ 12）的哈希',
    en: 'must be a hash of argon2id (PHC format, m ≤ 65536, m × t ≤ 262144, p ≤ 16) or of bcrypt (cost ≤ 12)',
  },
  notWithPassword: { zh: '不能与 password 同时使用', en: 'cannot be combined with password' },
  notWithDeptId: { zh: '不能与 deptId 同时使用', en: 'cannot be combined with deptId' },
  unknownRef: { zh: '必须是列表中某个条目的 ref', en: 'must be the ref of an entry in the list' },
  refCycle: { zh: '不能使部门成为自己的上级', en: 'must not make the department its own ancestor' },
  entryParent: {
    zh: '不能用于单个条目，请使用 parentRef，或与 departments 同级的 parentId',
    en: 'is not supported in an entry: use parentRef, or parentId next to departments',
  },
  otherTenant: { zh: '必须与网址中的 tenantId 相同', en: 'must be the same as in the URL' },
  tenantCode: { zh: '必须是 6 到 18 位数字', en: 'must consist of 6 to 18 digits' },
  cursor: {
    zh: '不是该列表和排序方式的有效游标，请使用空游标重新开始',
    en: 'is not a cursor of this list with this sort order: start again with an empty cursor',
  },
  time: {
    zh: '必须是有效的时间，如 2026-05-01T08:00:00Z 或 2026-05-01 08:00:00',
    en: 'must be a time, such as 2026-05-01T08:00:00Z or 2026-05-01 08:00:00',
  },
  localTime: {
    zh: '必须是 YYYY-MM-DD HH:MM:SS 格式的有效时间',
    en: 'must be a valid time in the format YYYY-MM-DD HH:MM:SS',
  },
  network: {
    zh: '必须是 IPv4 或 IPv6 地址或网段，如 10.0.0.0/8',
    en: 'must be an IPv4 or IPv6 address or network, such as 10.0.0.0/8',
  },
  permission: {
    zh: '必须是可授予 API 密钥的权限，如 dept:read',
    en: 'must be a permission that API keys can have, such as dept:read',
  },
  quotaName: {
    zh: '必须以小写字母开头，只能包含字母和数字，最长 50 个字符',
    en: 'must begin with a lower-case letter and contain only letters and digits, at most 50',
  },
  moreThanReserved: { zh: '不能超过预留的数量', en: 'must not be more than was reserved' },
  totalInRecord: { zh: '必须介于 0 和 2147483647 之间', en: 'must be between 0 and 2147483647' },
  accountsPeriod: { zh: '必须为 none：用户数不按周期重置', en: 'must be none: users are not counted per period' },
  accountsUsed: { zh: '不能设置：用户数由系统统计', en: 'cannot be set: the service counts the users' },
  kind: {
    zh: '格式应为 department.created、department.* 或 *',
    en: 'must have the form department.created, department.* or *',
  },
  future: { zh: '不能是将来的时间', en: 'must not be in the future' },
  beforeFrom: { zh: '不能早于 from', en: 'must not be before from' },
  notWithAsOf: { zh: '不能与 asOf 同时使用', en: 'cannot be combined with asOf' },
  userName: {
    zh: '只能包含字母、数字和 . _ - @ 等符号，不能包含空格、换行、表情或不可见字符，且不能混用不同的书写方向',
    en: 'may contain letters, digits and symbols such as . _ - @, but no spaces, line breaks, emoji or invisible characters, and must have one writing direction',
  },
  mixedScripts: {
    zh: '不能混用外形相似的字母（例如拉丁字母与西里尔字母），请只使用其中一种',
    en: 'must not mix alphabets whose letters look alike, such as Latin and Cyrillic: use only one of them',
  },
  dateCell: {
    zh: '是日期，请将单元格格式改为文本后重新填写',
    en: 'is a date. Format the cell as text and enter it again',
  },
  formulaCell: {
    zh: '是没有计算结果的公式，请改为公式的值',
    en: 'is a formula without a stored result. Enter its value instead',
  },
  errorCell: { zh: '是公式错误，请改为正确的值', en: 'is a formula error. Enter the value instead' },
  scientific,
  scientificCell: scientific,
  emptyPathName: {
    zh: '中有空的部门名称，请检查“/”；名称中的“/”写作“\\/”',
    en: 'contains an empty name. Check the slashes; write a slash within a name as \\/',
  },
  departmentKey: {
    zh: '不能为空（已填写来源系统和外部编号时除外）',
    en: 'must not be empty, unless source and external id are given',
  },
  format: { zh: '格式不正确', en: 'has an invalid format' },
} satisfies Record<string, Record<Language, string>>;
