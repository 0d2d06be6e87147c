import { DEPTS } from '../support/expect.ts';
import { type Client, type Service, startService } from '../support/service.ts';

export const startDeepTrees = () => startService({ BANYAN_DEPARTMENT_LEVELS: '20000' });

export async function createChain(
  service: Service,
  depth: number,
  nameOf: (n: number) => string,
): Promise<{ admin: Client; ids: number[] }> {
  const admin = await service.createTenant();
  const departments = Array.from({ length: depth }, (_, n) => ({
    ref: `r${n}`,
    ...(n > 0 ? { parentRef: `r${n - 1}` } : {}),
    deptName: nameOf(n),
    orderNum: n,
  }));
  const { data } = await admin.post(`${DEPTS}/bulk`, { departments });
  return { admin, ids: data.deptIds };
}
