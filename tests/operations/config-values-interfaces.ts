import type { ExpectedValues } from './config-values.ts';

/** Values of the settings for formats, the RuoYi adapter, metrics, traces and the log. */
export const interfaceSettings = {
  BANYAN_TIME_ZONE: {
    unset: ['timeZone', 'Asia/Shanghai'],
    valid: [
      ['UTC', 'UTC'],
      ['Europe/Berlin', 'Europe/Berlin'],
    ],
    invalid: ['Mars/Olympus', '+08:00', 'GMT+25', "UTC'; drop table users", '8'],
  },
  BANYAN_ERROR_STATUS: {
    unset: ['errorStatus', 'http'],
    valid: [
      ['200', '200'],
      ['http', 'http'],
    ],
    invalid: ['HTTP', '201', 'yes', 'true'],
  },
  BANYAN_RUOYI_API: {
    unset: ['ruoyiApi', false],
    valid: [
      ['0', false],
      ['1', true],
    ],
    invalid: ['true', 'yes', '2'],
  },
  BANYAN_RUOYI_TENANTS: {
    unset: ['ruoyiTenants', [{ tenantId: '000000', companyName: '000000' }]],
    valid: [
      ['123456', [{ tenantId: '123456', companyName: '123456' }]],
      [
        '000000=总部, 123456 = a=b',
        [
          { tenantId: '000000', companyName: '总部' },
          { tenantId: '123456', companyName: 'a=b' },
        ],
      ],
    ],
    invalid: ['12345', '总部', '000000,', '000000;123456'],
  },
  BANYAN_MENU_NAMES: {
    unset: ['menuNames', {}],
    valid: [['tests/fixtures/menu-names.json', { 100: '系统管理', 101: '用户管理' }]],
    invalid: ['nowhere.json', 'package.json', 'README.md', 'tests'],
  },
  BANYAN_METRICS: {
    unset: ['metrics', false],
    valid: [
      ['0', false],
      ['1', true],
    ],
    invalid: ['yes', '2', 'true'],
  },
  BANYAN_METRICS_PORT: {
    unset: ['metricsPort', null],
    valid: [
      ['0', 0],
      ['9464', 9464],
      ['65535', 65_535],
    ],
    invalid: ['-1', '65536', '8080', 'on', '1e3'],
  },
  OTEL_EXPORTER_OTLP_ENDPOINT: {
    unset: ['otlpEndpoint', ''],
    valid: ['http://localhost:4318', 'https://otel.example.com/banyan'].map((text) => [text, text]),
    invalid: ['localhost:4318', 'grpc://localhost:4317', 'http://'],
  },
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: {
    unset: ['otlpTracesEndpoint', ''],
    valid: [['http://localhost:4318/v1/traces', 'http://localhost:4318/v1/traces']],
    invalid: ['/v1/traces', 'http://'],
  },
  OTEL_TRACES_EXPORTER: {
    unset: ['otelTracesExporter', 'otlp'],
    valid: ['otlp', 'none'].map((text) => [text, text]),
    invalid: ['zipkin', 'console'],
  },
  OTEL_SDK_DISABLED: {
    unset: ['otelDisabled', false],
    valid: [
      ['true', true],
      ['TRUE', true],
      ['false', false],
    ],
    invalid: ['1', 'yes'],
  },
  BANYAN_LOG_LEVEL: {
    unset: ['logLevel', 'info'],
    valid: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'].map((text) => [text, text]),
    invalid: ['INFO', 'verbose', '30'],
  },
} satisfies ExpectedValues;
