import type { KeyInput } from '../api.ts';
import { defineTexts } from '../language.ts';

/** A permission that a key can have. */
export type Permission = KeyInput['permissions'][number];
/** A permission that users can have but keys cannot. No operation requires the other one, `role:write`, so it is not shown. */
type UserPermission = 'key:write';

/** What each permission allows, as an administrator would say it. */
export const permissionTexts = defineTexts({
  zh: {
    'dept:read': '查看部门',
    'dept:write': '管理部门',
    'user:read': '查看用户',
    'user:write': '管理用户',
    'tenant:read': '查看租户',
    'tenant:write': '管理租户',
    'key:write': '管理 API 密钥',
    'webhook:write': '管理 Webhook',
    'change:read': '查看变更记录',
    'change:revert': '撤销变更',
    'quota:read': '查看配额',
    'quota:use': '使用配额',
    'quota:write': '管理配额',
    check: '校验令牌',
    import: '导入数据',
    export: '导出数据',
  } satisfies Record<Permission | UserPermission, string>,
  en: {
    'dept:read': 'View departments',
    'dept:write': 'Manage departments',
    'user:read': 'View users',
    'user:write': 'Manage users',
    'tenant:read': 'View tenants',
    'tenant:write': 'Manage tenants',
    'key:write': 'Manage API keys',
    'webhook:write': 'Manage webhooks',
    'change:read': 'View changes',
    'change:revert': 'Revert changes',
    'quota:read': 'View quotas',
    'quota:use': 'Use quotas',
    'quota:write': 'Manage quotas',
    check: 'Check tokens',
    import: 'Import data',
    export: 'Export data',
  },
});
