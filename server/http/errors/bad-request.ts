/** Errors in the content of a request (400). */
export const badRequestErrors = {
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
    'The result has more than {limit} rows. Choose a shorter period, or per=month.',
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
    '{field} consists mostly of a name of the user or of the tenant and is easy to guess. Without these names it must still have at least 8 characters; choose another one.',
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
    'Columns are missing from the file: {columns}. Use the template.',
  ],
  ROWS_INVALID: [
    400,
    '有 {rows} 行存在错误，未导入任何数据，请修改后重新导入',
    'Nothing was imported. Rows with errors: {rows}. Correct them and import the file again.',
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
} as const satisfies Record<string, readonly [status: 400, zh: string, en: string]>;
