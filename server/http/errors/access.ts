/** Errors of authentication (401) and permission (403). Some Chinese texts must not change: see catalog.ts. */
export const accessErrors = {
  NO_TOKEN: [
    401,
    '认证失败，无法访问系统资源',
    'Authentication is required. Log in and send the header Authorization: Bearer <access token>.',
  ],
  INVALID_TOKEN: [401, '令牌无效，请重新登录', 'The access token is invalid. Log in again.'],
  TOKEN_EXPIRED: [401, '令牌已过期，请刷新或重新登录', 'The access token has expired. Refresh it, or log in again.'],
  SESSION_ENDED: [401, '会话已结束，请重新登录', 'The session has ended. Log in again.'],
  USER_DELETED: [401, '用户已被删除，请联系管理员', 'The user has been deleted. Contact an administrator.'],
  TENANT_DELETED: [
    401,
    '租户已被删除，请联系上级租户的管理员',
    'The tenant has been deleted. Contact an administrator of a parent tenant.',
  ],
  LOGIN_FAILED: [
    401,
    '租户、用户名或密码错误，请核对后重试',
    'The tenant, user name or password is wrong. Check them and try again.',
  ],
  REFRESH_REFUSED: [
    401,
    '刷新令牌无效或已过期，请重新登录',
    'The refresh token is invalid or has expired. Log in again.',
  ],
  INVALID_KEY: [
    401,
    'API 密钥无效或已被删除，请核对后重试，或联系管理员获取新的密钥',
    'The API key is invalid or has been deleted. Check it, or ask an administrator for a new one.',
  ],
  KEY_EXPIRED: [
    401,
    'API 密钥已过期，请联系管理员延长有效期或获取新的密钥',
    'The API key has expired. Ask an administrator to extend it, or for a new one.',
  ],
  PASSWORD_HASH_FORBIDDEN: [
    403,
    '{field} 仅限平台（租户 000000）管理员使用，请改用 password',
    '{field} is only for administrators of the platform (tenant 000000). Send password instead.',
  ],
  PASSWORD_CHANGE_REQUIRED: [
    403,
    '请先修改密码（PUT /auth/password），然后重试',
    'You must change your password first, with PUT /auth/password. Then try again.',
  ],
  NOT_ALLOWED: [
    403,
    '没有访问权限，请联系管理员授权',
    'You do not have permission to do this. Ask an administrator for access.',
  ],
  KEY_DISABLED: [403, 'API 密钥已被停用，请联系管理员', 'The API key is disabled. Contact an administrator.'],
  KEY_ADDRESS_REFUSED: [
    403,
    '不允许从此 IP 地址使用该 API 密钥，请联系管理员',
    'The API key cannot be used from this address. Contact an administrator.',
  ],
  USERS_ONLY: [
    403,
    '此操作仅限用户使用，不支持 API 密钥，请登录后重试',
    'Only users can do this, not API keys. Log in instead.',
  ],
  PERMISSION_NOT_HELD: [
    403,
    '不能授予自己没有的权限：{permissions}，请移除后重试',
    'You cannot grant permissions that you do not have: {permissions}. Remove them.',
  ],
  OTHER_TENANT: [
    403,
    '无权访问该租户的数据；不填 tenantId 则默认为当前租户',
    'You do not have access to this tenant. Omit tenantId to use your own tenant.',
  ],
  OTHER_SITE: [
    403,
    '不允许从其他网站使用此会话，请直接打开控制台地址',
    'Pages of other sites cannot use this session. Open the console at its own URL.',
  ],
  TENANT_PARENT_FORBIDDEN: [
    403,
    '上级租户不在您的管理范围内，请选择当前租户或其下级租户',
    'You do not have access to the parent tenant. Choose your own tenant or one of its descendants.',
  ],
  OWN_TENANT: [
    403,
    '不能修改或删除自己所属的租户，请联系上级租户的管理员',
    'You cannot change or delete your own tenant. Contact an administrator of a parent tenant.',
  ],
  USER_DISABLED: [403, '用户已被停用，请联系管理员', 'The user is disabled. Contact an administrator.'],
  TENANT_DISABLED: [
    403,
    '租户或其上级租户已被停用，请联系管理员',
    'The tenant or one of its ancestors is disabled. Contact an administrator.',
  ],
  TENANT_NOT_STARTED: [
    403,
    '租户或其上级租户的服务尚未开始，请联系管理员',
    'The service period of the tenant or of one of its ancestors has not started yet. Contact an administrator.',
  ],
  TENANT_ENDED: [
    403,
    '租户或其上级租户的服务已到期，请联系管理员',
    'The service period of the tenant or of one of its ancestors has ended. Contact an administrator.',
  ],
} as const satisfies Record<string, readonly [status: 401 | 403, zh: string, en: string]>;
