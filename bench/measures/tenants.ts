import { alternate, type Measure, median } from '../measure.ts';
import { fillTenant } from '../organization.ts';
import { makePlace, makeTenant, startService } from '../services.ts';

const TENANTS = 100_000;

/** A second service on a database with a hundred thousand tenants, against the one with a few. */
export const manyTenants: Measure = async (scene) => {
  const { crowd, service, small, ms, progress } = scene;
  progress(`${TENANTS} tenants are made`);
  const crowded = await makePlace();
  const other = await startService(crowded.databaseUrl, { BANYAN_ACCESS_TOKEN_SECONDS: '86400' });
  try {
    const tenant = { ...(await makeTenant(other.base)), firstId: 1_000_000, count: small.count };
    // As if they had always been there: not noted in the ledger.
    await crowded.superuser`set session_replication_role = replica`;
    await crowded.superuser`
      insert into banyan.tenants (tenant_id, id, parent_id, path, tenant_name, quotas, rules, create_by)
      select n::text, n, '000000', array['000000', n::text], 'tenant ' || n, '{}', '{}', 'bench'
      from generate_series(10000000, ${10_000_000 + TENANTS - 1}::int) n`;
    await crowded.superuser`reset session_replication_role`;
    await fillTenant(crowded.superuser, tenant.tenantId, tenant.firstId, tenant.count);
    await crowded.superuser`vacuum analyze`;
    const reads =
      (base: string, { token, firstId, count }: typeof tenant) =>
      async () => {
        const ask = { what: 'department', firstId, count } as const;
        return (await crowd.call({ base, token, ask, connections: 64, ms })).aSecond;
      };
    const result = await alternate(
      scene,
      'reads among 100,000 tenants',
      reads(other.base, tenant),
      reads(service.base, small),
    );
    return [
      {
        what: `Read while ${TENANTS} tenants exist, against a few`,
        figure: result.ratio,
        unit: '×',
        goal: { least: 0.9 },
        spread: result.spread,
        notes: `${Math.round(median(result.ones))}/s against ${Math.round(median(result.others))}/s`,
      },
    ];
  } finally {
    await other.stop();
    await crowded.close();
  }
};
