import type { ReactNode } from 'react';
import { Link } from 'react-router';
import type { Id } from '../../api.ts';
import { useIsAdministrator, useMe } from '../../session.ts';

/** The path of a person's page. Without a tenant, the person belongs to the current one. */
export const getPersonPath = (id: Id, tenantId?: string) => `/people/${id}${tenantId ? `?tenantId=${tenantId}` : ''}`;

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
  if (!administrator) return <>{children}</>;
  return <Link to={getPersonPath(id, tenantId === ownTenantId ? undefined : tenantId)}>{children}</Link>;
}
