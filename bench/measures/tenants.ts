import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { createTenant, startDatabase, startService } from '../services.ts';

const TENANTS = 100_000;

/** Compares reads on a database with a hundred thousand tenants with reads on one with a few. */
export const manyTenants: Measure = async (context) => {
  const { load, service: serviceWithFew, small, ms, progress } = context;
  progress(`creating ${TENANTS} tenants`);
  const database = await startDatabase();
  const serviceWithMany = await startService(database.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
  try {
    const tenant = { ...(await createTenant(serviceWithMany.base)), firstId: 1_000_000, count: small.count };
    // Skip the ledger's triggers: these tenants are only background data.
    await database.superuser`set session_replication_role = replica`;
    await database.superuser`
      insert into banyan.tenants (tenant_id, id, parent_id, path, tenant_name, quotas, rules, create_by)
      select n::text, n, '000000', array['000000', n::text], 'tenant ' || n, '{}', '{}', 'bench'
      from generate_series(10000000, ${10_000_000 + TENANTS - 1}::int) n`;
    await database.superuser`reset session_replication_role`;
    await fillTenant(database.superuser, tenant.tenantId, tenant.firstId, tenant.count);
    await database.superuser`vacuum analyze`;
    const reads =
      (base: string, { token, firstId, count }: typeof tenant) =>
      async () => {
        const request = { type: 'department', firstId, count } as const;
        return (await load.run({ base, token, request, connections: 64, ms })).perSecond;
      };
    const result = await alternate(
      context,
      'reads with 100,000 tenants',
      reads(serviceWithMany.base, tenant),
      reads(serviceWithFew.base, small),
    );
    return [
      {
        name: `Read with ${TENANTS} tenants against a few`,
        figure: result.ratio,
        unit: '×',
        goal: { least: 0.9 },
        range: result.range,
        notes: `${Math.round(median(result.first))}/s against ${Math.round(median(result.second))}/s`,
      },
    ];
  } finally {
    await serviceWithMany.stop();
    await database.close();
  }
};
