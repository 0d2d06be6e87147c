import type { ExpectedValues } from './config-values.ts';

/** Values of the settings for the first administrator, sessions, trusted networks and limits. */
export const limitSettings = {
  BANYAN_ADMIN_USERNAME: {
    unset: ['adminUsername', 'admin'],
    valid: [
      ['张三', '张三'],
      ['🌳'.repeat(50), '🌳'.repeat(50)],
    ],
    invalid: ['a'.repeat(51)],
  },
  BANYAN_ADMIN_PASSWORD: {
    unset: ['adminPassword', ''],
    valid: [
      ['12345678', '12345678'],
      // A password is not trimmed.
      [' 12345678 ', ' 12345678 '],
      ['🌳'.repeat(128), '🌳'.repeat(128)],
    ],
    invalid: ['secret-', 'secret-word'.repeat(12), '🌳'.repeat(7)],
  },
  BANYAN_ACCESS_TOKEN_SECONDS: {
    unset: ['accessTokenSeconds', 1800],
    valid: [
      ['1', 1],
      ['86400', 86400],
    ],
    invalid: ['0', '-1', '86401', '30m', '1.5', 'Infinity'],
  },
  BANYAN_REFRESH_TOKEN_SECONDS: {
    unset: ['refreshTokenSeconds', 604800],
    valid: [
      ['1', 1],
      ['31536000', 31536000],
    ],
    invalid: ['0', '31536001', '7d', '1e3'],
  },
  BANYAN_SESSION_DAYS: {
    unset: ['sessionSeconds', 2_592_000],
    valid: [
      ['1', 86_400],
      ['3650', 315_360_000],
    ],
    invalid: ['0', '3651', 'never', '1.5'],
  },
  BANYAN_SESSIONS_PER_USER: {
    unset: ['maxSessions', 20],
    valid: [
      ['1', 1],
      ['1000', 1000],
    ],
    invalid: ['0', '1001', 'all'],
  },
  BANYAN_TRUST_PROXY: {
    unset: ['trustProxy', ''],
    valid: ['10.0.0.1', '10.0.0.0/8', '10.0.0.1, fd00::/8', 'loopback'].map((text) => [text, text]),
    invalid: ['nginx', '10.0.0.1;10.0.0.2', '10.0.0.0/99', 'true', '*', '10.0.0.1,,10.0.0.2'],
  },
  BANYAN_CORS_ORIGINS: {
    unset: ['corsOrigins', []],
    valid: [
      ['https://app.example.com', ['https://app.example.com']],
      ['http://localhost:5173, https://a.example', ['http://localhost:5173', 'https://a.example']],
    ],
    invalid: ['*', 'app.example.com', 'https://app.example.com/', 'https://a.example:443', 'null', 'file:///a', 'a b'],
  },
  BANYAN_LEDGER_DAYS: {
    unset: ['ledgerDays', 'keep'],
    valid: [
      ['keep', 'keep'],
      ['365', '365'],
    ],
    invalid: ['0', '-1', '1.5', '36501', 'ever'],
  },
  BANYAN_WEBHOOK_NETWORKS: {
    unset: ['webhookNetworks', []],
    valid: [
      ['loopback', ['loopback']],
      ['10.1.0.0/16, fd00::/8,192.168.1.7', ['10.1.0.0/16', 'fd00::/8', '192.168.1.7']],
    ],
    invalid: ['inner', '10.0.0.0/33', '10.0.0', 'uniquelocal', 'fd00::/129'],
  },
  BANYAN_TENANT_REQUESTS_PER_SECOND: {
    unset: ['tenantRequestsPerSecond', null],
    valid: [
      ['off', null],
      ['1', 1],
      ['1000000', 1_000_000],
    ],
    invalid: ['0', '-1', '1.5', '1000001', 'on'],
  },
  BANYAN_DEPARTMENT_LEVELS: {
    unset: ['departmentLevels', 1_000],
    valid: [
      ['1', 1],
      ['20000', 20_000],
    ],
    invalid: ['0', '20001', '1e3', 'unlimited'],
  },
  BANYAN_TENANT_LEVELS: {
    unset: ['tenantLevels', 32],
    valid: [
      ['2', 2],
      ['100', 100],
    ],
    invalid: ['1', '101', '-1', 'unlimited'],
  },
} satisfies ExpectedValues;
