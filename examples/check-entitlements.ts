// Asks whether a user may open a page of an application: their tenant must be in service, the user must be enabled, the tenant's
// package must have the menu, and the quota must not be used up. It sends the ETag of the last response, so that the service
// does not send an unchanged response again.
//
//   BANYAN_URL=http://localhost:8080 BANYAN_KEY=byk_… node examples/check-entitlements.ts <userId> <menuId> <quota>
//
// The key needs `tenant:read` and `user:read`.
const [userId = '', menuId = '', quota = ''] = process.argv.slice(2);

interface Entitlements {
  inService: boolean;
  menuIds: (number | string)[];
  quotas: { quota: string; left: number }[];
  user: { status: '0' | '1' };
}

/** The last response for each user, with its ETag. */
const known = new Map<string, { etag: string; data: Entitlements }>();

async function read(id: string): Promise<Entitlements> {
  const last = known.get(id);
  const response = await fetch(`${process.env.BANYAN_URL}/system/entitlement-api?userId=${id}`, {
    headers: {
      authorization: `Bearer ${process.env.BANYAN_KEY}`,
      ...(last ? { 'if-none-match': last.etag } : {}),
    },
  });
  if (last && response.status === 304) return last.data;
  const { code, msg, data } = (await response.json()) as { code: number; msg: string; data: Entitlements };
  if (code !== 200) throw new Error(`${code} ${msg}`);
  known.set(id, { etag: response.headers.get('etag') ?? '', data });
  return data;
}

async function checkAccess(): Promise<string> {
  const { inService, user, menuIds, quotas } = await read(userId);
  if (!inService) return 'no: the tenant is out of service';
  if (user.status !== '0') return 'no: the user is disabled';
  if (!menuIds.map(String).includes(menuId)) return 'no: not in the package';
  const found = quotas.find((each) => each.quota === quota);
  if (!found) return `no: the tenant has no quota ${quota}`;
  // -1: no limit.
  return found.left === 0 ? 'no: nothing left' : 'yes';
}

// The second response has no body.
console.log(await checkAccess());
console.log(await checkAccess());
