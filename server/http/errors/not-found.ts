/** Errors of paths and ids that do not exist (404), of methods (405), and of requests that arrive too slowly (408). */
export const notFoundErrors = {
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
    '配额 {quota} 不存在，请核对名称，或联系上级租户的管理员创建',
    'There is no quota {quota}. Check the name, or ask an administrator of an ancestor tenant to create it.',
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
} as const satisfies Record<string, readonly [status: 404 | 405 | 408, zh: string, en: string]>;
