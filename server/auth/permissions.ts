/** What a caller may do. Roles grant permissions to people; API keys carry them for programs. */
export const PERMISSIONS = [
  'dept:read',
  'dept:write',
  'user:read',
  'user:write',
  'tenant:read',
  'tenant:write',
  // For the administration of roles, which is planned. No operation requires it yet, and the console does not show it.
  'role:write',
  'key:write',
  'webhook:write',
  'change:read',
  'change:revert',
  'quota:read',
  'quota:use',
  'quota:write',
  'check',
  'import',
  'export',
] as const;

export type Permission = (typeof PERMISSIONS)[number];

/**
 * What an operation requires. `self`: it concerns only the caller's own account, so every user may call it. `session`: the
 * same, even before the user has changed a password that they must change.
 */
export type Requirement = Permission | 'self' | 'session';

/** The permissions that API keys can have. A key must not be able to create further keys or to grant roles. */
export const KEY_PERMISSIONS: readonly Permission[] = PERMISSIONS.filter(
  (each) => each !== 'key:write' && each !== 'role:write',
);

const all: ReadonlySet<Permission> = new Set(PERMISSIONS);
const ofMembers: ReadonlySet<Permission> = new Set(['dept:read']);

export const permissionsOfUser = ({ administrator }: { administrator: boolean }): ReadonlySet<Permission> =>
  administrator ? all : ofMembers;

const ofKeys: ReadonlySet<Permission> = new Set(KEY_PERMISSIONS);

/** Returns those stored permissions that an API key may have. */
export const permissionsOfKey = (stored: readonly Permission[]): ReadonlySet<Permission> =>
  new Set(stored.filter((each) => ofKeys.has(each)));

/** Whether a caller has every permission, as administrators do. */
export const hasAllPermissions = ({ permissions }: { permissions: ReadonlySet<Permission> }): boolean =>
  PERMISSIONS.every((permission) => permissions.has(permission));

export const isPermission = (requirement: Requirement): requirement is Permission =>
  requirement !== 'self' && requirement !== 'session';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** What the caller needs. Every operation that requires an access token or an API key states it. */
    requires?: Requirement;
    /** Users without the permission may call the operation for themselves. A rule of the operation checks this. */
    allowsSelf?: boolean;
  }
}
