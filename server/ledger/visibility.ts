import type { Tx } from '../../db/driver.ts';
import { pathsWithinScope } from '../access/tenant-scope.ts';
import type { StoredRow } from '../records/record.ts';
import type { ChangeRow } from './queries.ts';

export interface Reader {
  /** The tenant of the administrator, or of the webhook. */
  readerTenant: string;
  /** The tenant that the transaction has assumed: the same or a descendant. */
  tenantId: string;
}

/** What a reader may learn about tenants from a ledger, given where these tenants are at present. */
export interface Visibility {
  /** Whether the tenant is the reader's own or a descendant of it. */
  isInScope(code: string): boolean;
  /**
   * Whether the tenant is in the reader's scope, or is above the ledger's tenant now. A former parent outside of that scope is
   * neither.
   */
  isKnown(ledger: string, code: string): boolean;
}

type Actor = Pick<ChangeRow, 'by' | 'byTenantId' | 'tenantId'> & {
  byUserId?: number | null;
  byKeyId?: number | null;
  address?: string | null;
};

/** Reads the visibility of all tenants that these changes mention, as actors or as parents. */
export function readVisibility(
  tx: Tx,
  reader: Reader,
  changes: readonly Pick<ChangeRow, 'byTenantId' | 'tenantId' | 'resource' | 'before' | 'after'>[],
): Promise<Visibility> {
  const mentions = changes.flatMap(({ tenantId: ledger, byTenantId, resource, before, after }) =>
    [byTenantId, ...(resource === 'tenant' ? [parentOf(before), parentOf(after)] : [])].flatMap((code) =>
      code === null ? [] : { ledger, code },
    ),
  );
  return visibilityOf(tx, reader, mentions);
}

export async function visibilityOf(
  tx: Tx,
  { readerTenant, tenantId }: Reader,
  mentions: readonly { ledger: string; code: string }[],
): Promise<Visibility> {
  const foreign = mentions.filter(({ code }) => code !== readerTenant);
  const codes = new Set(foreign.flatMap(({ ledger, code }) => [ledger, code]));
  const paths =
    codes.size > 0 ? await pathsWithinScope(tx, readerTenant, tenantId, codes) : new Map<string, string[]>();
  const isInScope = (code: string) => code === readerTenant || paths.has(code);
  return { isInScope, isKnown: (ledger, code) => isInScope(code) || (paths.get(ledger)?.includes(code) ?? false) };
}

const parentOf = (row: StoredRow | null): string | null => (row?.parent_id as string | null | undefined) ?? null;

/**
 * Hides what the reader may not see of the user who made a change. Addresses are shown within the reader's scope only. The
 * name and the tenant of an administrator are shown while that tenant is above the ledger's tenant, and not after a move.
 */
export function hideActor<T extends Actor>(change: T, { isInScope, isKnown }: Visibility): T {
  const { byTenantId, tenantId } = change;
  if (byTenantId === null || isInScope(byTenantId)) return change;
  const withoutAddress = 'address' in change ? { ...change, address: null } : change;
  if (isKnown(tenantId, byTenantId)) return withoutAddress;
  return {
    ...withoutAddress,
    by: '',
    byTenantId: null,
    ...('byUserId' in change ? { byUserId: null, byKeyId: null } : {}),
  };
}
