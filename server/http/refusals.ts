/**
 * Every reason for which the service refuses, in one list: its status, and what a person reads in both languages.
 * `{name}` stands for a fact that comes with the refusal. Reasons are stable: callers may rely on them.
 */
export const reasons = {
  BAD_REQUEST: [400, '请求格式错误：{cause}', 'The request is malformed: {cause}'],
  ADDRESS_NOT_ENCODED: [
    400,
    '地址中的中文等字符必须先做百分号编码，例如 研 写作 %E7%A0%94',
    'Letters beyond ASCII must be percent-encoded in an address, as é is %C3%A9.',
  ],
  INVALID_JSON: [400, '请求体不是有效的 JSON，请检查格式', 'The body is not valid JSON. Check its syntax.'],
  INVALID_UTF8: [
    400,
    '请求不是有效的 UTF-8 文本，或百分号编码有误，请改用 UTF-8 编码',
    'The request is not valid UTF-8, or has a broken %-escape. Send it as UTF-8.',
  ],
  FORBIDDEN_KEY: [
    400,
    '请求体包含不允许的键（__proto__ 或 constructor），请去掉',
    'The body has a key that is not allowed (__proto__ or constructor). Remove it.',
  ],
  BODY_REQUIRED: [400, '请求体不能为空，请发送 JSON 对象', 'A body is required. Send a JSON object.'],
  FIELD_REQUIRED: [400, '{field} 不能为空', '{field} is required.'],
  INVALID_FIELD: [400, '{field} {problem}', '{field} {problem}.'],
  TOO_MANY_IDS: [
    400,
    '一次最多处理 {limit} 个编号，请分批发送',
    'At most {limit} ids in one request. Send several requests.',
  ],
  PARENT_NOT_FOUND: [
    400,
    '上级部门不存在，请选择已有的部门，或用 0 表示顶级',
    'The parent department does not exist. Choose an existing one, or 0 for the top level.',
  ],
  NOT_CHILDREN: [
    400,
    '以下部门不是该上级部门的直接下级：{deptIds}，请只列出其直接下级',
    'These are no children of that department: {deptIds}. List only its direct children.',
  ],
  TENANT_PARENT_NOT_FOUND: [
    400,
    '上级租户不存在；不填 tenantParent 则建在自己的租户之下',
    'The parent tenant does not exist. Leave tenantParent out for a child of your own tenant.',
  ],
  USER_DEPT_NOT_FOUND: [
    400,
    '用户的部门不存在：{deptIds}，请选择该租户已有的部门',
    'These departments of the user do not exist in the tenant: {deptIds}. Choose existing ones.',
  ],
  TENANT_TREE_TOO_LARGE: [
    400,
    '租户超过 {limit} 个，请用 depth 限制层数，或用 rootId 指定较小的分支',
    'There are more than {limit} tenants. Ask for fewer levels with depth, or for a smaller branch with rootId.',
  ],
  TOO_MANY_LEDGERS: [
    400,
    '下级租户超过 {limit} 个，请用 tenantId 指定一个租户，或用 below=false 只看本租户',
    'There are more than {limit} tenants below. Name one with tenantId, or leave them out with below=false.',
  ],
  WEBHOOK_ADDRESS_REFUSED: [
    400,
    '{field} 必须是通向网络外部的 https 地址；内部网络须由 BANYAN_WEBHOOK_NETWORKS 允许（开发时设为 loopback，可用本机的 http 地址）',
    '{field} must be an https address that leads out of the network. Those inside are for BANYAN_WEBHOOK_NETWORKS to allow (loopback, for http on this machine while developing).',
  ],
  DIFF_TOO_LARGE: [
    400,
    '两个时间之间有超过 {limit} 个部门发生变化，请缩短时间范围',
    'More than {limit} departments were touched between the two moments. Choose moments that are nearer to each other.',
  ],
  PATHS_TOO_LONG: [
    400,
    '这些部门层级过深，路径合计超过 {limit} 个字符，请一次查询较少的部门',
    'The paths of these departments have more than {limit} letters together, so deep are they. Ask for fewer at a time.',
  ],
  PAST_TOO_LARGE: [
    400,
    '部门超过 {limit} 个，查询过去的列表时请用 parentId 或 underId 指定较小的范围',
    'There were more than {limit} departments. List a smaller part of the past with parentId or underId.',
  ],
  HISTORY_NOT_KEPT: [
    400,
    '该时间的记录已归档，最早可查询 {from}',
    'What was then has been archived. The earliest moment to ask for is {from}.',
  ],
  WRONG_PASSWORD: [400, '旧密码错误，请重新输入', 'The old password is wrong. Type it again.'],

  NO_TOKEN: [
    401,
    '认证失败，无法访问系统资源',
    'Log in first: this needs the header Authorization: Bearer <access token>.',
  ],
  INVALID_TOKEN: [401, '令牌无效，请重新登录', 'The access token is not valid. Log in again.'],
  TOKEN_EXPIRED: [401, '令牌已过期，请刷新或重新登录', 'The access token has expired. Refresh it, or log in again.'],
  SESSION_ENDED: [401, '会话已结束，请重新登录', 'The session has ended. Log in again.'],
  USER_DELETED: [401, '用户已被删除，请联系管理员', 'The user has been deleted. Ask an administrator.'],
  TENANT_DELETED: [
    401,
    '租户已被删除，请联系上级租户的管理员',
    'The tenant has been deleted. Ask an administrator of a tenant above.',
  ],
  LOGIN_FAILED: [
    401,
    '租户、用户名或密码错误，请核对后重试',
    'Tenant, user name or password is wrong. Check all three.',
  ],
  REFRESH_REFUSED: [401, '刷新令牌无效或已过期，请重新登录', 'The refresh token is not valid any more. Log in again.'],

  NOT_ALLOWED: [403, '没有访问权限，请联系管理员授权', 'You are not allowed to do this. Ask an administrator.'],
  OTHER_TENANT: [
    403,
    '不能访问其他租户的数据；不填 tenantId 即为自己的租户',
    'That tenant is not within your reach. Leave tenantId out to act in your own.',
  ],
  OTHER_SITE: [
    403,
    '不接受其他网站的页面使用此会话，请从控制台自己的地址打开',
    'A page of another site may not use this session. Open the console at its own address.',
  ],
  TENANT_PARENT_FORBIDDEN: [
    403,
    '上级租户不在您的管理范围内，请选择自己的租户或其下级',
    'The parent tenant is not within your reach: choose your own or one below it.',
  ],
  OWN_TENANT: [
    403,
    '不能修改或删除自己所属的租户，请联系上级租户的管理员',
    'Nobody changes or deletes his own tenant. Ask an administrator of a tenant above.',
  ],
  USER_DISABLED: [403, '用户已被停用，请联系管理员', 'The user is disabled. Ask an administrator.'],
  TENANT_DISABLED: [
    403,
    '租户或其上级租户已被停用，请联系管理员',
    'The tenant, or one above it, is disabled. Ask its administrator.',
  ],
  TENANT_NOT_STARTED: [
    403,
    '租户或其上级租户的服务尚未开始，请联系管理员',
    "The service of the tenant, or of one above it, hasn't started yet. Ask its administrator.",
  ],
  TENANT_ENDED: [
    403,
    '租户或其上级租户的服务已到期，请联系管理员',
    'The service of the tenant, or of one above it, has ended. Ask its administrator.',
  ],

  DEPT_NOT_FOUND: [
    404,
    '部门不存在或已被删除，请核对编号',
    'There is no such department, or it was deleted. Check the id.',
  ],
  TENANT_NOT_FOUND: [
    404,
    '租户不存在或已被删除，请核对编号（id，不是租户代码）',
    'There is no such tenant, or it was deleted. Use its id, not its code.',
  ],
  USER_NOT_FOUND: [404, '用户不存在或已被删除，请核对编号', 'There is no such user, or it was deleted. Check the id.'],
  CHANGE_NOT_FOUND: [404, '变更记录不存在，请核对编号', 'There is no such change. Check the id.'],
  SESSION_NOT_FOUND: [404, '会话不存在或已结束', 'You have no such session. It may have ended already.'],
  WEBHOOK_NOT_FOUND: [404, '网络钩子不存在，请核对编号', 'There is no such webhook. Check the id.'],
  DELIVERY_NOT_FOUND: [
    404,
    '投递记录不存在；投递记录只保留 30 天',
    'The webhook has no such delivery. Deliveries are kept for 30 days.',
  ],
  PATH_NOT_FOUND: [
    404,
    '请求的路径不存在，可用的路径见 /docs',
    'There is nothing at this path. /docs shows what there is.',
  ],
  CONSOLE_NOT_BUILT: [
    404,
    '控制台尚未构建，请运行 npm run build 后重新启动',
    'The console is not built. Run npm run build, then start again.',
  ],
  METHOD_NOT_ALLOWED: [
    405,
    '该路径不支持此方法，可用：{allowed}',
    'This path does not take that method. It takes: {allowed}.',
  ],
  REQUEST_TIMEOUT: [
    408,
    '请求接收超时，请在十秒内发完',
    'The request took too long to arrive. Send it within ten seconds.',
  ],

  DEPT_HAS_CHILDREN: [
    409,
    '存在下级部门,不允许删除',
    'The department has child departments. Move or delete them first.',
  ],
  DEPT_HAS_USERS: [409, '部门存在用户,不允许删除', 'The department has users. Move them first.'],
  BRANCH_TOO_LARGE: [
    409,
    '涉及的部门超过 {limit} 个，请分批处理',
    'That is more than {limit} departments at once. Take smaller branches, one after the other.',
  ],
  DEPT_CYCLE: [
    409,
    '上级部门不能是自己或自己的下级部门',
    'A department cannot be below itself. Choose another parent.',
  ],
  PARENT_DISABLED: [409, '部门停用，不允许新增', 'The parent department is disabled. Enable it, or choose another.'],
  DEPT_NOT_DELETED: [409, '部门未被删除，无需恢复', 'The department is not deleted. There is nothing to restore.'],
  PARENT_GONE: [
    409,
    '原上级部门 {parentId} 已被删除，请先恢复它，或指定其他上级部门',
    'The parent department {parentId} is deleted. Restore it first, or name another parent.',
  ],
  TENANT_HAS_CHILDREN: [
    409,
    '存在下级租户,不允许删除，请先移走或删除它们',
    'The tenant has child tenants. Move or delete them first.',
  ],
  TENANT_CYCLE: [
    409,
    '上级租户不能是自己或自己的下级租户，请另选',
    'A tenant cannot be below itself. Choose another parent.',
  ],
  TENANT_NOT_DELETED: [409, '租户未被删除，无需恢复', 'The tenant is not deleted. There is nothing to restore.'],
  TENANT_PARENT_GONE: [
    409,
    '上级租户 {tenantParent} 已被删除，请先恢复它',
    'The parent tenant {tenantParent} is deleted. Restore it first.',
  ],
  ACCOUNT_LIMIT: [
    409,
    '当前租户下用户名额不足，请联系管理员',
    'The tenant has no account left. Ask for a higher accountCount, or delete a user.',
  ],
  USER_NAME_TAKEN: [409, '用户名已存在，请换一个', 'The tenant has a user of that name already. Choose another name.'],
  LAST_ADMINISTRATOR: [
    409,
    '不能删除、停用或降级租户的最后一个管理员，请先指定另一个管理员',
    'A tenant keeps an administrator: appoint another one first.',
  ],
  OWN_USER: [409, '不能删除当前登录用户，请由其他管理员操作', 'Nobody deletes himself. Ask another administrator.'],
  TOO_MANY_WEBHOOKS: [
    409,
    '每个租户最多 {limit} 个网络钩子，请先删除不用的',
    'A tenant has {limit} webhooks at most. Delete one first.',
  ],
  DELIVERY_TOO_OLD: [
    409,
    '对应的变更已不再保留，不能重新投递',
    'The change that it told of is not kept any more. It cannot be sent again.',
  ],
  WEBHOOK_DISABLED: [409, '网络钩子已停用，请先启用', 'The webhook is disabled. Enable it first.'],
  USER_NOT_DELETED: [409, '用户未被删除，无需恢复', 'The user is not deleted. There is nothing to restore.'],
  USER_DEPT_GONE: [
    409,
    '用户原来的部门已被删除：{deptIds}，请先恢复这些部门',
    'These departments of the user are deleted: {deptIds}. Restore them first.',
  ],
  CHANGE_CONTRADICTED: [
    409,
    '此后又有变更：{resources}（变更 {changeIds}），请先撤销它们',
    'Later changes contradict it: {resources} (changes {changeIds}). Revert those first.',
  ],
  CHANGE_TOO_OLD: [
    409,
    '该变更早于台账保留期，不能撤销',
    'The change is older than what the ledger keeps in full. It cannot be reverted.',
  ],
  CHANGE_IRREVERSIBLE: [
    409,
    '登录、密码和 Webhook 的变更，以及租户移入或移出管辖范围，均不能撤销',
    'Logins, changes of passwords and of webhooks, and tenants that came from or went out of reach cannot be reverted, ' +
      'nor what was done together with them.',
  ],

  KEY_REUSED: [
    409,
    '该 Idempotency-Key 已用于另一请求，请换一个',
    'This Idempotency-Key was used for another request. Choose a new key.',
  ],
  CHANGED_MEANWHILE: [
    412,
    '数据已被他人修改，请重新读取后再试',
    'It was changed since you read it. Read it again, then decide.',
  ],
  BODY_TOO_LARGE: [
    413,
    '请求体超过 {limit} 字节，请分批发送',
    'The body has more than {limit} bytes. Send less at a time.',
  ],
  NOT_JSON: [415, '请求体必须是 application/json', 'The body must be JSON: send Content-Type: application/json.'],
  TOO_MANY_LOGINS: [
    429,
    '登录失败次数过多，请 {seconds} 秒后再试',
    'Too many failed logins. Try again in {seconds} seconds.',
  ],
  HEADERS_TOO_LARGE: [
    431,
    '请求地址或请求头过长，请缩短',
    'The address or the headers of the request are too long. Shorten them.',
  ],

  INTERNAL: [
    500,
    '系统内部错误，请联系管理员（请求编号 {requestId}）',
    'Something failed on our side. Tell your administrator the request id {requestId}.',
  ],
  DATABASE_AWAY: [503, '数据库暂时不可用，请稍后重试', 'The database is away for the moment. Try again shortly.'],
  TOO_BUSY: [503, '系统繁忙，请稍后重试', 'The service is busy. Try again shortly.'],
} as const satisfies Record<string, readonly [status: number, zh: string, en: string]>;

export type Reason = keyof typeof reasons;

/** Where a reason is given for something else than usual, a fact that comes with it says so, and the text is this one. */
export const otherwise = {
  ACCOUNT_LIMIT: [
    'field',
    // One of the familiar texts, which callers know to the letter.
    '当前租户下用户名额不足，请联系管理员',
    '{field} {accountCount} leaves no room for the first administrator. Send 1 or more, -1 for no limit, or leave username and password out.',
  ],
  BRANCH_TOO_LARGE: [
    'parentId',
    'parentId 为 {parentId} 的部门超过 {limit} 个，无法排序，请先把一部分移到其他上级部门',
    'More than {limit} departments have the parentId {parentId}, too many to put in order. Move some below another parent first.',
  ],
} as const satisfies Partial<Record<Reason, readonly [fact: string, zh: string, en: string]>>;

export type Language = 'zh' | 'en';
/** A fact may read differently in each language. */
export type Fact = string | number | readonly (string | number)[] | Record<Language, string>;

/** Thrown to refuse. Only app.ts turns it into an answer. */
export class Refusal extends Error {
  readonly reason: Reason;
  readonly facts: Record<string, Fact>;

  constructor(reason: Reason, facts: Record<string, Fact>) {
    super(reason);
    this.reason = reason;
    this.facts = facts;
  }

  get status(): number {
    return reasons[this.reason][0];
  }

  text(language: Language): string {
    const [fact, ...other] = otherwise[this.reason as keyof typeof otherwise] ?? [];
    const [zh, en] = fact !== undefined && fact in this.facts ? other : reasons[this.reason].slice(1);
    const template = String(language === 'en' ? en : zh);
    return template.replace(/\{(\w+)\}/g, (_, name) => String(factIn(language, this.facts[name] ?? '')));
  }

  /** The facts as the answer carries them. */
  data(language: Language): Record<string, unknown> {
    const facts = Object.entries(this.facts).map(([name, fact]) => [name, factIn(language, fact)]);
    return { reason: this.reason, ...Object.fromEntries(facts) };
  }
}

const factIn = (language: Language, fact: Fact) => (typeof fact === 'object' && 'zh' in fact ? fact[language] : fact);

/** `throw refuse('DEPT_HAS_CHILDREN', { deptIds })` */
export function refuse(reason: Reason, facts: Record<string, Fact> = {}): Refusal {
  // No fault of ours, so nobody looks for where it was thrown; and to note that costs more than the rest of a refusal.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const refusal = new Refusal(reason, facts);
  Error.stackTraceLimit = stackTraceLimit;
  return refusal;
}
