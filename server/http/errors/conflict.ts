/** Errors of requests that contradict the stored data (409). Some Chinese texts must not change: see catalog.ts. */
export const conflictErrors = {
  DEPT_HAS_CHILDREN: [
    409,
    '存在下级部门,不允许删除',
    'The department has child departments. Move or delete them first.',
  ],
  DEPT_HAS_USERS: [409, '部门存在用户,不允许删除', 'The department has users. Move them to another department first.'],
  BRANCH_TOO_LARGE: [
    409,
    '涉及的部门超过 {limit} 个，请分批处理',
    'This affects more than {limit} departments. Process smaller subtrees one at a time.',
  ],
  TOO_MANY_USERS: [
    409,
    '涉及的用户超过 {limit} 名，请先将部分用户移动到其他部门',
    'This affects more than {limit} users. Move some of them to another department first.',
  ],
  DEPT_CYCLE: [
    409,
    '上级部门不能是自己或自己的下级部门',
    'A department cannot be moved below itself. Choose another parent.',
  ],
  PARENT_DISABLED: [
    409,
    '部门停用，不允许新增',
    'The parent department is disabled. Enable it or choose another parent.',
  ],
  TOO_DEEP: [
    409,
    '层级不能超过 {limit} 级，请选择层级更高的上级；如需更多层级，请联系运维人员调整 {setting}',
    'At most {limit} levels are allowed. Choose a parent higher up; an operator can allow more with {setting}.',
  ],
  DEPT_NOT_DELETED: [409, '部门未被删除，无需恢复', 'The department is not deleted. There is nothing to restore.'],
  PARENT_GONE: [
    409,
    '原上级部门 {parentId} 已被删除，请先恢复该部门，或指定其他上级部门',
    'The parent department {parentId} has been deleted. Restore it first, or choose another parent.',
  ],
  TENANT_HAS_CHILDREN: [
    409,
    '存在下级租户，不允许删除，请先移动或删除下级租户',
    'The tenant has child tenants. Move or delete them first.',
  ],
  TENANT_CYCLE: [
    409,
    '上级租户不能是自己或自己的下级租户，请重新选择',
    'A tenant cannot be moved below itself. Choose another parent.',
  ],
  TENANT_NOT_DELETED: [409, '租户未被删除，无需恢复', 'The tenant is not deleted. There is nothing to restore.'],
  TENANT_PARENT_GONE: [
    409,
    '上级租户 {tenantParent} 已被删除，请先恢复该租户',
    'The parent tenant {tenantParent} has been deleted. Restore it first.',
  ],
  ACCOUNT_LIMIT: [
    409,
    '当前租户下用户名额不足，请联系管理员',
    'The tenant has reached its account limit. Delete a user, or ask an administrator to raise accountCount.',
  ],
  QUOTA_EXHAUSTED: [
    409,
    '配额 {quota} 已用完（本租户的配额，或与上级租户共享的配额），请联系上级租户的管理员',
    'The quota {quota} is used up, in this tenant or in a pool that it shares. Ask an administrator of an ancestor tenant for more.',
  ],
  QUOTA_COUNTS_USERS: [
    409,
    '配额 {quota} 统计用户数，由系统自动计数，无法直接使用或预留',
    'The quota {quota} limits the number of users. The service counts them, so it cannot be used or reserved.',
  ],
  QUOTA_EXISTS: [
    409,
    '配额 {quota} 已存在，used 只能在首次设置时指定，请去掉 used 后重试',
    'The quota {quota} already exists. `used` can be set only when a quota is created. Omit it.',
  ],
  RESERVATION_ENDED: [
    409,
    '预留已确认、已释放或已过期，如仍需使用请重新预留',
    'The reservation was confirmed or released, or has expired. Reserve again if you still need it.',
  ],
  USE_REFUNDED: [409, '该次使用已退还，不能重复退还', 'The use has already been refunded.'],
  USER_NAME_TAKEN: [
    409,
    '用户名已存在，请使用其他用户名',
    'The user name is already in use in this tenant. Choose another name.',
  ],
  EXTERNAL_ID_TAKEN: [
    409,
    '该来源（source）的外部编号（externalId）已被使用，请使用其他编号，或修改已有的记录',
    'The externalId of this source is already in use in this tenant. Use another one, or change the existing record.',
  ],
  LAST_ADMINISTRATOR: [
    409,
    '不能删除、停用租户的最后一位管理员，也不能取消其管理员角色，请先指定其他管理员',
    'The last administrator of a tenant cannot be deleted, disabled or demoted. Appoint another administrator first.',
  ],
  OWN_USER: [
    409,
    '不能删除当前登录用户，请由其他管理员操作',
    'You cannot delete yourself. Ask another administrator to do it.',
  ],
  TOO_MANY_KEYS: [
    409,
    '每个租户最多 {limit} 个 API 密钥，请先删除不再使用的密钥',
    'A tenant can have at most {limit} API keys. Delete one first.',
  ],
  TOO_MANY_WEBHOOKS: [
    409,
    '每个租户最多 {limit} 个 Webhook，请先删除不再使用的 Webhook',
    'A tenant can have at most {limit} webhooks. Delete one first.',
  ],
  WEBHOOK_BELOW_FIXED: [
    409,
    'Webhook 创建后不能修改 below，请新建一个 Webhook',
    '`below` cannot be changed after registration. Register another webhook.',
  ],
  DELIVERY_TOO_OLD: [
    409,
    '对应的变更记录已不可用，无法重新投递，请直接读取当前数据',
    'The change of this delivery is no longer available, so it cannot be sent again. Read the current state instead.',
  ],
  WEBHOOK_DISABLED: [409, 'Webhook 已停用，请先启用', 'The webhook is disabled. Enable it first.'],
  USER_NOT_DELETED: [409, '用户未被删除，无需恢复', 'The user is not deleted. There is nothing to restore.'],
  USER_DEPT_GONE: [
    409,
    '用户原所属部门已被删除：{deptIds}，请先恢复这些部门',
    'Former departments of the user have been deleted: {deptIds}. Restore them first.',
  ],
  CHANGE_CONTRADICTED: [
    409,
    '存在后续变更（变更编号：{changeIds}），请先撤销这些变更',
    'Later changes conflict with this one: {resources} (changes {changeIds}). Revert those first.',
  ],
  CHANGE_TOO_OLD: [
    409,
    '该变更已超出变更记录的保留期，无法撤销，请手动修改',
    'The change is too old: it is no longer kept and cannot be reverted. Edit the record instead.',
  ],
  CHANGE_IRREVERSIBLE: [
    409,
    '提醒和登录记录无法撤销；密码、配额、API 密钥和 Webhook 的变更，以及租户移入或移出管理范围的变更，也无法撤销，同一请求中的其他变更同样无法撤销',
    'Notices cannot be reverted. Logins, changes of passwords, quotas, API keys and webhooks, and moves of tenants into or out of your ' +
      'subtree cannot be reverted either, nor can other changes made by the same request.',
  ],
  // The key is the Idempotency-Key, not an API key.
  KEY_REUSED: [
    409,
    '该 Idempotency-Key 已用于其他请求，请使用新的值',
    'This Idempotency-Key was used for a different request. Use a new key.',
  ],
} as const satisfies Record<string, readonly [status: 409, zh: string, en: string]>;
