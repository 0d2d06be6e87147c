/** Errors of preconditions, sizes, media types and limits (412 to 431), and of the service itself (500 to 503). */
export const otherErrors = {
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
} as const satisfies Record<
  string,
  readonly [status: 412 | 413 | 415 | 429 | 431 | 500 | 501 | 503, zh: string, en: string]
>;
