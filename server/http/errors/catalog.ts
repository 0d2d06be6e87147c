import { accessErrors } from './access.ts';
import { badRequestErrors } from './bad-request.ts';
import { conflictErrors } from './conflict.ts';
import { notFoundErrors } from './not-found.ts';
import { otherErrors } from './other.ts';

/**
 * All errors: the code, its HTTP status, and its message in Chinese and English. `{name}` is replaced by the detail
 * with that name. Callers receive the code as `reason` and rely on it, so codes never change. Each file has the errors of some
 * statuses, in the order of the table in docs/interface.md.
 *
 * The Chinese texts of NO_TOKEN, NOT_ALLOWED, DEPT_HAS_CHILDREN, DEPT_HAS_USERS, PARENT_DISABLED and ACCOUNT_LIMIT
 * are those of RuoYi, which existing front ends match. Do not change them, not even their commas.
 */
export const errorCatalog = {
  ...badRequestErrors,
  ...accessErrors,
  ...notFoundErrors,
  ...conflictErrors,
  ...otherErrors,
};

export type ErrorCode = keyof typeof errorCatalog;

/** Messages that replace the usual ones of an error code if the error has the detail that the entry names first. */
export const alternativeTexts = {
  ACCOUNT_LIMIT: [
    'field',
    // The same text as in conflict.ts, because existing front ends match it.
    '当前租户下用户名额不足，请联系管理员',
    '{field} {accountCount} leaves no account for the first administrator. Send 1 or more, -1 for no limit, or omit username and password.',
  ],
  QUOTA_EXHAUSTED: [
    'tenantId',
    '租户 {tenantId} 的配额 {quota} 已用完，请联系管理员调整',
    'The quota {quota} of the tenant {tenantId} is used up. Ask an administrator of an ancestor tenant for more.',
  ],
  UNKNOWN_PARAMETER: [
    'operation',
    '不支持的查询参数：{parameters}，请移除；{operation} 不使用查询参数',
    'Unknown query parameters: {parameters}. Remove them; {operation} accepts none.',
  ],
  TOO_MANY_REQUESTS: [
    'keyId',
    '此 API 密钥的请求过于频繁，请 {seconds} 秒后重试',
    'This API key sends too many requests. Try again in {seconds} seconds.',
  ],
  PATHS_TOO_LONG: [
    'steps',
    '部门层级过深，所属部门的路径合计超过 {steps} 级，请减少该用户所属的部门',
    'The paths of the departments of this user have more than {steps} levels in all. Remove the user from some of them.',
  ],
  BRANCH_TOO_LARGE: [
    'parentId',
    'parentId 为 {parentId} 的部门超过 {limit} 个，无法排序，请先将部分部门移至其他上级部门',
    'More than {limit} departments have the parentId {parentId}, too many to reorder. Move some to another parent first.',
  ],
} as const satisfies Partial<Record<ErrorCode, readonly [detail: string, zh: string, en: string]>>;
