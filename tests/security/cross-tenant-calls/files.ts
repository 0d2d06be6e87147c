import { csv, importFile } from '../../support/import.ts';
import type { Client } from '../../support/service.ts';
import { dept, OK, people, type Row, type Target, tenant } from './target.ts';

/** Exports and imports. */
export const fileCalls: Row[] = [
  ...[dept, people].flatMap((path): Row[] => [
    {
      operation: `GET ${path}/export`,
      variant: 'in the tenant',
      call: (client, { code }) => client.get(`${path}/export?format=csv&tenantId=${code}`),
      other: '403 OTHER_TENANT',
    },
    {
      operation: `GET ${path}/export`,
      variant: 'of a department of the tenant',
      call: (client, { parent }) =>
        client.get(`${path}/export?format=csv&${path === dept ? 'underId' : 'deptId'}=${parent}`),
      other: OK,
    },
    {
      operation: `POST ${path}/import`,
      call: (client: Client, { code }: Target) =>
        importFile(
          client,
          path === dept ? 'dept' : 'user',
          'apply',
          csv([[path === dept ? '部门路径' : '用户名'], ['imported-here']]),
          {
            query: `&tenantId=${code}`,
          },
        ),
      other: '403 OTHER_TENANT',
    },
    {
      operation: `GET ${path}/import/template`,
      call: (client, { code }) => client.get(`${path}/import/template?format=csv&tenantId=${code}`),
      other: '403 OTHER_TENANT',
    },
  ]),
  ...(['code', 'belowCode'] as const).map(
    (code): Row => ({
      operation: `GET ${tenant}/export`,
      variant: code,
      call: (client, target) => client.get(`${tenant}/export?format=csv&tenantId=${target[code]}`),
      other: OK,
    }),
  ),
];
