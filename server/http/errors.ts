/**
 * All errors: the code, its HTTP status, and its message in Chinese and English. `{name}` is replaced by the detail
 * with that name. Callers receive the code as `reason` and rely on it, so codes never change.
 *
 * The Chinese texts of NO_TOKEN, NOT_ALLOWED, DEPT_HAS_CHILDREN, DEPT_HAS_USERS, DEPT_CYCLE, PARENT_DISABLED and ACCOUNT_LIMIT
 * are those of RuoYi, which existing front ends compare. Do not change them, not even their commas.
 */
export const errorCatalog = {
  BAD_REQUEST: [400, '请求格式错误：{cause}', 'The request is malformed: {cause}'],
  ADDRESS_NOT_ENCODED: [
    400,
    'URL 中的非 ASCII 字符需进行百分号编码，例如“研”应写为 %E7%A0%94',
    'The URL contains characters outside ASCII. Percent-encode them, for example é as %C3%A9.',
  ],
  INVALID_JSON: [400, '请求体不是有效的 JSON，请检查格式', 'The body is not valid JSON. Check its syntax.'],
  INVALID_UTF8: [
    400,
    '请求不是有效的 UTF-8 文本，或百分号编码有误，请使用 UTF-8 编码',
    'The request is not valid UTF-8 or has an invalid percent-encoding. Encode it as UTF-8.',
  ],
  FORBIDDEN_KEY: [
    400,
    '请求体包含不允许的字段（__proto__ 或 constructor），请移除后重试',
    'The body contains a key that is not allowed (__proto__ or constructor). Remove it.',
  ],
  BODY_REQUIRED: [400, '请求体不能为空，请发送 JSON 对象', 'A body is required. Send a JSON object.'],
  FIELD_REQUIRED: [400, '{field} 不能为空', '{field} is required.'],
  INVALID_FIELD: [400, '{field} {problem}', '{field} {problem}.'],
  UNKNOWN_PARAMETER: [
    400,
    '不支持的查询参数：{parameters}，请核对拼写；此操作支持的查询参数：{supported}',
    'Unknown query parameters: {parameters}. Check their spelling; this operation accepts: {supported}.',
  ],
  TOO_MANY_IDS: [
    400,
    '单次最多处理 {limit} 个编号，请分批提交',
    'A request can contain at most {limit} ids. Split it into several requests.',
  ],
  DUPLICATE_COOKIE: [
    400,
    '浏览器发送了多个会话 Cookie，无法判断哪个有效，请清除此网站及其上级域名的 Cookie 后重新登录',
    'The browser sent several session cookies, so it is not clear which one is valid. Clear the cookies of this site and its parent domain, then log in again.',
  ],
  RUOYI_ENCRYPTED: [
    400,
    '不支持加密请求，请在前端设置 VITE_APP_ENCRYPT=false，并使用 HTTPS，详见 docs/ruoyi-api.md',
    'Encrypted requests are not supported. Set VITE_APP_ENCRYPT=false in the front end, and use HTTPS. See docs/ruoyi-api.md.',
  ],
  PARENT_NOT_FOUND: [
    400,
    '上级部门不存在，请选择已有部门，或使用 0 表示顶级部门',
    'The parent department does not exist. Use an existing department, or 0 for the top level.',
  ],
  NOT_CHILDREN: [
    400,
    '以下部门不是该上级部门的直接下级：{deptIds}，请仅提交其直接下级部门',
    'These departments are not direct children of the parent: {deptIds}. Send only its direct children.',
  ],
  TENANT_PARENT_NOT_FOUND: [
    400,
    '上级租户不存在，请核对 tenantParent；不填则默认为当前租户',
    'The parent tenant does not exist. Check tenantParent, or omit it to use your own tenant.',
  ],
  USER_DEPT_NOT_FOUND: [
    400,
    '用户所属部门不存在：{deptIds}，请选择该租户的已有部门',
    'These departments do not exist in the tenant of the user: {deptIds}. Use existing departments.',
  ],
  LEADER_NOT_FOUND: [
    400,
    '负责人不存在：{leaderId}，请选择该租户的已有用户',
    'The user {leaderId} does not exist in this tenant and cannot lead a department. Use an existing user.',
  ],
  TENANT_TREE_TOO_LARGE: [
    400,
    '租户数量超过 {limit} 个，请用 depth 限制层级，或用 rootId 缩小范围',
    'The tree has more than {limit} tenants. Limit the levels with depth, or request a subtree with rootId.',
  ],
  TOO_MANY_LEDGERS: [
    400,
    '下级租户超过 {limit} 个，请用 tenantId 指定租户，或用 below=false 仅查询本租户',
    'There are more than {limit} descendant tenants. Select one with tenantId, or exclude them with below=false.',
  ],
  WEBHOOK_ADDRESS_REFUSED: [
    400,
    '{field} 必须是公网 https 地址；如需使用内网地址，请在 BANYAN_WEBHOOK_NETWORKS 中添加（开发时设为 loopback 可使用本机 http 地址）',
    '{field} must be an https URL with a public address. To allow internal addresses, add their networks to BANYAN_WEBHOOK_NETWORKS (for development, loopback allows http to this machine).',
  ],
  USAGE_TOO_LARGE: [
    400,
    '统计结果超过 {limit} 行，请缩小日期范围，或按月统计',
    'There are more than {limit} sums. Choose a shorter period, or per=month.',
  ],
  DIFF_TOO_LARGE: [
    400,
    '所选时间范围内变更的部门超过 {limit} 个，请缩小时间范围',
    'More than {limit} departments changed between the two times. Choose a shorter period.',
  ],
  ANSWER_TOO_LARGE: [
    400,
    '结果超过 {limit} 字节，请减少单次查询的数量（pageSize、limit 或编号个数），或使用 cursor 分页',
    'The response would exceed {limit} bytes. Request fewer records at a time (pageSize, limit or ids), or page with cursor.',
  ],
  PATHS_TOO_LONG: [
    400,
    '部门层级过深，路径总长度超过 {limit} 字节，请减少单次查询的部门数量，或使用 cursor 分页',
    'These departments are nested so deeply that their paths exceed {limit} bytes. Request fewer departments at a time, or page with cursor.',
  ],
  PAST_TOO_LARGE: [
    400,
    '部门（含已删除）超过 {limit} 个，查询历史列表时请用 parentId 或 underId 缩小范围',
    'The tenant has more than {limit} departments, deleted ones included. Narrow the historical list with parentId or underId.',
  ],
  HISTORY_NOT_KEPT: [
    400,
    '该时间的记录已归档，最早可查询时间为 {from}',
    'The history of that time has been archived. Use a time from {from} on.',
  ],
  USER_NAME_RESERVED: [
    400,
    '{field} 是系统保留的用户名，请使用其他用户名',
    '{field} is a name that is reserved for the service. Choose another name.',
  ],
  PASSWORD_TOO_COMMON: [
    400,
    '{field} 过于常见，容易被猜中，请使用其他密码，例如由几个不相关的词组成',
    '{field} is one of the most common passwords and easy to guess. Choose another one, for example several unrelated words.',
  ],
  PASSWORD_HAS_NAME: [
    400,
    '{field} 主要由用户或租户的名称组成，容易被猜中；除去这些名称后，密码仍需至少 8 个字符，请重新设置',
    '{field} consists mostly of a name of the user or of the tenant and is easy to guess. Without these names it must still have 8 characters; choose another one.',
  ],
  PASSWORD_UNCHANGED: [
    400,
    '新密码不能与旧密码相同，请使用其他密码',
    'The new password is the same as the old one. Choose another one.',
  ],
  FILE_REQUIRED: [
    400,
    '请以 multipart/form-data 上传一个 xlsx 或 csv 文件，字段名为 file',
    'Send one xlsx or csv file as multipart/form-data, in a part with the name file.',
  ],
  FILE_UNREADABLE: [400, '文件无法读取：{problem}', 'The file cannot be read: {problem}.'],
  TOO_MANY_ROWS: [
    400,
    '单个文件最多 {limit} 行，请拆分后分别导入',
    'A file can have at most {limit} rows. Split it into several files.',
  ],
  COLUMNS_MISSING: [
    400,
    '文件缺少列：{columns}，请使用导入模板',
    'The file has no column {columns}. Use the template.',
  ],
  ROWS_INVALID: [
    400,
    '有 {rows} 行存在错误，未导入任何数据，请修改后重新导入',
    '{rows} rows have errors, so nothing was imported. Correct them and import the file again.',
  ],
  ROW_REPEATED: [400, '与第 {row} 行重复，请只保留一行', 'This row repeats row {row}. Keep one of them.'],
  DEPT_PATH_NOT_FOUND: [
    400,
    '部门“{path}”不存在，请核对路径，或先创建该部门',
    'There is no department {path}. Check the path, or create the department first.',
  ],
  DEPT_PATH_AMBIGUOUS: [
    400,
    '有多个部门的路径是“{path}”，请改用外部编号，或先修改部门名称',
    'Several departments have the path {path}. Use external ids, or rename one of them first.',
  ],
  EXTERNAL_ID_NOT_FOUND: [
    400,
    '来源系统 {source} 中没有外部编号为 {externalId} 的部门，请核对编号，或在文件中增加该部门',
    'No department has the external id {externalId} of {source}. Check it, or add the department to the file.',
  ],
  EXTERNAL_ID_DIFFERS: [
    400,
    '该记录的外部编号是 {externalId}（{source}），与文件不一致，请核对',
    'This record has the external id {externalId} of {source}, not the one in the file. Check which is right.',
  ],
  WRONG_PASSWORD: [400, '旧密码错误，请重新输入', 'The old password is wrong. Enter it again.'],

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

  DEPT_NOT_FOUND: [
    404,
    '部门不存在或已被删除，请核对编号',
    'The department does not exist or has been deleted. Check the id.',
  ],
  TENANT_NOT_FOUND: [
    404,
    '租户不存在或已被删除，请核对 id（不是租户编号）',
    'The tenant does not exist or has been deleted. Check that you sent its id, not its code.',
  ],
  USER_NOT_FOUND: [
    404,
    '用户不存在或已被删除，请核对编号',
    'The user does not exist or has been deleted. Check the id.',
  ],
  CHANGE_NOT_FOUND: [404, '变更记录不存在，请核对编号', 'The change does not exist. Check the id.'],
  SESSION_NOT_FOUND: [
    404,
    '会话不存在或已结束，请刷新会话列表',
    'The session does not exist or has already ended. Reload the list of sessions.',
  ],
  WEBHOOK_NOT_FOUND: [404, 'Webhook 不存在，请核对编号', 'The webhook does not exist. Check the id.'],
  QUOTA_NOT_FOUND: [
    404,
    '配额 {quota} 不存在，请核对名称，或由上级租户的管理员用 PUT 设置',
    'There is no quota {quota}. Check the name, or ask an administrator of a tenant above to make it.',
  ],
  RESERVATION_NOT_FOUND: [404, '预留不存在，请核对编号', 'The reservation does not exist. Check the id.'],
  USE_NOT_FOUND: [404, '使用记录不存在或已归档，请核对编号', 'The use does not exist, or is archived. Check the id.'],
  KEY_NOT_FOUND: [404, 'API 密钥不存在，请核对编号', 'The API key does not exist. Check the id.'],
  DELIVERY_NOT_FOUND: [
    404,
    '投递记录不存在，请核对编号；投递记录仅保留 30 天',
    'The delivery does not exist. Check the id; deliveries are kept for 30 days.',
  ],
  PATH_NOT_FOUND: [
    404,
    '请求的路径不存在，可用路径请查看 /docs',
    'The path does not exist. See /docs for the available paths.',
  ],
  CONSOLE_NOT_BUILT: [
    404,
    '控制台尚未构建，请运行 npm run build 后重启服务',
    'The console has not been built. Run npm run build and restart the service.',
  ],
  METHOD_NOT_ALLOWED: [
    405,
    '该路径不支持此请求方法，支持的方法：{allowed}',
    'The path does not support this method. Use one of: {allowed}.',
  ],
  REQUEST_TIMEOUT: [
    408,
    '请求接收超时，请在 10 秒内发送完整请求',
    'The request did not arrive in time. Send all of it within 10 seconds.',
  ],

  UPLOAD_TIMEOUT: [
    408,
    '文件上传超时，请检查网络后重试',
    'The file did not arrive in time. Check the connection and try again.',
  ],

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
    '层级不能超过 {limit} 级，请选择更上层的上级；如需更多层级，请由运维人员调整 {setting}',
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
    '配额 {quota} 不足：本租户或上级租户共享的额度已用完，请联系管理员',
    'The quota {quota} is used up, in this tenant or in a pool that it shares. Ask an administrator of a tenant above to raise it.',
  ],
  QUOTA_COUNTS_USERS: [
    409,
    '配额 {quota} 统计用户数，由系统自动计数，无法直接使用或预留',
    'The quota {quota} limits the number of users. The service counts them, so it cannot be used or reserved.',
  ],
  QUOTA_EXISTS: [
    409,
    '配额 {quota} 已存在，used 只能在首次设置时指定，请去掉 used 后重试',
    'The quota {quota} exists already. `used` can be set only when a quota is made: omit it.',
  ],
  RESERVATION_ENDED: [
    409,
    '预留已结束（{state}），如仍需使用请重新预留',
    'The reservation has ended: {state}. Reserve again if you still need it.',
  ],
  USE_REFUNDED: [409, '该次使用已退还，不能重复退还', 'The use has been refunded already.'],
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
    'below cannot be changed after registration. Register another webhook.',
  ],
  DELIVERY_TOO_OLD: [
    409,
    '对应的变更记录已清除，无法重新投递，请直接读取当前数据',
    'The change of this delivery is no longer stored, so it cannot be sent again. Read the current state instead.',
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
    '存在后续变更：{resources}（变更 {changeIds}），请先撤销这些变更',
    'Later changes conflict with this one: {resources} (changes {changeIds}). Revert those first.',
  ],
  CHANGE_TOO_OLD: [
    409,
    '该变更已超出变更记录的保留期，无法撤销，请手动修改',
    'The change is older than the retention period of the ledger and cannot be reverted. Edit the record instead.',
  ],
  CHANGE_IRREVERSIBLE: [
    409,
    '登录、密码、API 密钥和 Webhook 的变更，以及租户移入或移出管理范围的变更，均无法撤销；同一请求中的其他变更也无法撤销',
    'Logins, changes of passwords, API keys and webhooks, and moves of tenants into or out of your subtree cannot be ' +
      'reverted, nor can other changes made by the same request.',
  ],

  // The key is the Idempotency-Key, not an API key.
  KEY_REUSED: [
    409,
    '该 Idempotency-Key 已用于其他请求，请使用新的值',
    'This Idempotency-Key was used for a different request. Use a new key.',
  ],
  CHANGED_MEANWHILE: [
    412,
    '数据已被修改，请刷新后重试',
    'The record has changed since you read it. Read it again, then retry.',
  ],
  BODY_TOO_LARGE: [
    413,
    '请求体超过 {limit} 字节，请分批提交',
    'The body is larger than {limit} bytes. Split it into several requests.',
  ],
  NOT_JSON: [
    415,
    '请求体必须是 JSON，请设置 Content-Type: application/json',
    'The body must be JSON. Send Content-Type: application/json.',
  ],
  NOT_MULTIPART: [
    415,
    '请以 multipart/form-data 上传文件，字段名为 file',
    'Send the file as multipart/form-data, in a part with the name file.',
  ],
  TOO_MANY_LOGINS: [
    429,
    '登录失败次数过多，请 {seconds} 秒后重试',
    'Too many failed logins. Try again in {seconds} seconds.',
  ],
  TOO_MANY_REQUESTS: [
    429,
    '本租户的请求过于频繁，请 {seconds} 秒后重试',
    'This tenant sends too many requests. Try again in {seconds} seconds.',
  ],
  HEADERS_TOO_LARGE: [
    431,
    '请求 URL 或请求头过长，请缩短后重试',
    'The URL or the headers of the request are too long. Shorten them.',
  ],

  INTERNAL: [
    500,
    '系统内部错误，请联系管理员（请求编号 {requestId}）',
    'An internal error occurred. Contact your administrator and quote the request id {requestId}.',
  ],
  RUOYI_NOT_OFFERED: [
    501,
    'Banyan 不提供此功能：{feature}，支持的功能详见 docs/ruoyi-api.md',
    'Banyan does not offer this: {feature}. See docs/ruoyi-api.md for what it offers.',
  ],
  DATABASE_AWAY: [503, '数据库暂时不可用，请稍后重试', 'The database is temporarily unavailable. Try again shortly.'],
  TOO_BUSY: [503, '系统繁忙，请稍后重试', 'The service is busy. Try again shortly.'],
} as const satisfies Record<string, readonly [status: number, zh: string, en: string]>;

export type ErrorCode = keyof typeof errorCatalog;

/** Messages that replace the usual ones of an error code if the error has the detail that comes first. */
export const alternativeTexts = {
  ACCOUNT_LIMIT: [
    'field',
    // The same text as above, because existing front ends compare it.
    '当前租户下用户名额不足，请联系管理员',
    '{field} {accountCount} leaves no account for the first administrator. Send 1 or more, -1 for no limit, or omit username and password.',
  ],
  QUOTA_EXHAUSTED: [
    'tenantId',
    '租户 {tenantId} 的配额 {quota} 已用完，请联系管理员调整',
    'The quota {quota} of the tenant {tenantId} is used up. Ask an administrator of a tenant above it to raise it.',
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
  BRANCH_TOO_LARGE: [
    'parentId',
    'parentId 为 {parentId} 的部门超过 {limit} 个，无法排序，请先将部分部门移至其他上级部门',
    'More than {limit} departments have the parentId {parentId}, too many to reorder. Move some to another parent first.',
  ],
} as const satisfies Partial<Record<ErrorCode, readonly [detail: string, zh: string, en: string]>>;

export type Language = 'zh' | 'en';
/** The value of a detail. A text may exist in both languages. */
export type Detail =
  | string
  | number
  | readonly (string | number)[]
  | Record<Language, string>
  | readonly { readonly [name: string]: Detail }[];

/** An error that the caller receives. The error handler in app.ts turns it into a response. */
export class ApiError extends Error {
  /** Callers receive it as `reason`; `code` in the envelope is the HTTP status. */
  readonly code: ErrorCode;
  readonly details: Record<string, Detail>;

  constructor(code: ErrorCode, details: Record<string, Detail>) {
    super(code);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorCatalog[this.code][0];
  }

  text(language: Language): string {
    const [detail, ...alternative] = alternativeTexts[this.code as keyof typeof alternativeTexts] ?? [];
    const [zh, en] = detail !== undefined && detail in this.details ? alternative : errorCatalog[this.code].slice(1);
    const template = String(language === 'en' ? en : zh);
    return template.replace(/\{(\w+)\}/g, (_, name) => String(translate(this.details[name] ?? '', language)));
  }

  /** The code and the details, as the response contains them. */
  data(language: Language): Record<string, unknown> {
    return { reason: this.code, ...translateAll(this.details, language) };
  }
}

function translate(detail: Detail, language: Language): unknown {
  if (typeof detail !== 'object') return detail;
  if ('zh' in detail) return detail[language];
  return detail.map((item) => (typeof item === 'object' ? translateAll(item, language) : item));
}

const translateAll = (details: { readonly [name: string]: Detail }, language: Language): Record<string, unknown> =>
  Object.fromEntries(Object.entries(details).map(([name, detail]) => [name, translate(detail, language)]));

/** Creates an error: `throw apiError('DEPT_HAS_CHILDREN', { deptIds })`. */
export function apiError(code: ErrorCode, details: Record<string, Detail> = {}): ApiError {
  // Skip the stack trace: nobody debugs these errors, and capturing it costs more than the rest of the error response.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new ApiError(code, details);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
