import type { Sql } from '../../db/driver.ts';

/** Figures about all tenants. Ages are in seconds, 0 if there is nothing that could be old. */
export interface ServiceFigures {
  unsealed: number;
  unsealedSeconds: number;
  deliveries: number;
  deliverySeconds: number;
  failingWebhooks: number;
  quotas: number;
  reservations: number;
}

/** Counting stops here: a scrape must be fast however much there is to count. */
const MAX_COUNTED = 100_000;

export async function readServiceFigures(sql: Sql): Promise<ServiceFigures> {
  const [row] = await sql<[ServiceFigures]>`select * from service_figures(${MAX_COUNTED})`;
  return row;
}
