import type { ReactNode } from 'react';
import { Link, useLocation } from 'react-router';
import type { Id } from '../../api.ts';
import { useIsAdministrator, useMe } from '../../session.ts';

/** The path of a person's page. Without a tenant, the person belongs to the current one. */
export const getPersonPath = (id: Id, tenantId?: string) => `/people/${id}${tenantId ? `?tenantId=${tenantId}` : ''}`;

/** The screens that the page of a person links back to: the list of people, and a department. */
const ORIGIN = /^\/(people|departments\/\d+)$/;

/**
 * The list from which a person is or was opened, with its filters and page: the current screen if it is such a list, otherwise
 * the list that the history entry remembers. Undefined after other screens.
 */
export function usePersonOrigin(): string | undefined {
  const { pathname, search, state } = useLocation();
  return ORIGIN.test(pathname) ? pathname + search : (state as { origin?: string } | null)?.origin;
}

interface Props {
  id: Id;
  /** The tenant of the person, if it may be another one. */
  tenantId?: string | undefined;
  children: ReactNode;
}

/** The name of a person, with a link to their page. Members cannot open that page, so they see the name only. */
export function PersonLink({ id, tenantId, children }: Props) {
  const administrator = useIsAdministrator();
  const ownTenantId = useMe().tenant.tenantId;
  const origin = usePersonOrigin();
  if (!administrator) return <>{children}</>;
  return (
    <Link to={getPersonPath(id, tenantId === ownTenantId ? undefined : tenantId)} state={{ origin }}>
      {children}
    </Link>
  );
}
