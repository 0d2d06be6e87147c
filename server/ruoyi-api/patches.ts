import { rolesWithIds } from './fixed.ts';
import type { TenantFields, UserFields } from './schema.ts';

/**
 * Changes are patches here, not replacements: RuoYi's forms do not know everything that Banyan stores, such as further
 * departments of a user, or the quotas of a tenant.
 */

/** Leaves out the fields that were not sent. */
export const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as {
    [K in keyof T]?: Exclude<T[K], undefined>;
  };

export const userPatch = ({ userName, deptId, nickName, phonenumber, email, status, roleIds }: UserFields) =>
  defined({
    userName,
    deptId,
    nickName,
    phone: phonenumber,
    email,
    status,
    roles: roleIds && rolesWithIds(roleIds),
  });

/** Banyan counts days: the service ends with the day of `expireTime`. */
export const tenantPatch = (sent: TenantFields) => {
  const { companyName, contactUserName, contactPhone, expireTime, accountCount, status } = sent;
  return defined({
    companyName,
    contactUserName,
    contactPhone,
    endTime: expireTime?.slice(0, 10),
    accountCount: accountCount === undefined ? undefined : Number(accountCount),
    status,
  });
};
