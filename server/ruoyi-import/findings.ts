/**
 * What an import did differently from a plain copy of a record, and by which rule. The report lists every finding with its rule,
 * so this is the one place that says what happens to defective data.
 */
export const RULES = {
  tenantDeleted: 'A tenant whose del_flag is not 0 is not imported, nor are its departments and users.',
  tenantUnknown:
    'A tenant without a code is not imported, nor are departments and users of a tenant that sys_tenant does not contain.',
  tenantRepeated:
    'Of several tenants with the same code, the one with the lowest id is imported; departments and users go there.',
  tenantCode: 'A tenant keeps its code if it has 6 to 18 digits and is free in Banyan; otherwise it gets a new one.',
  tenantPackage: 'A tenant whose package does not exist or is deleted gets no menus.',
  tenantOverLimit:
    'All users are imported, even if there are more than account_count. The limit stays; no further user can be added.',
  tenantWithoutAdministrator:
    'No enabled user of the tenant is an administrator. An administrator of 000000 can appoint one.',
  tenantDeletedHere: 'A tenant that was deleted in Banyan is not imported again.',
  noPlace: 'Banyan has no field for this value. It is only in this report.',
  noPlaceUsers: 'Banyan has no field for these values of users. They stay in RuoYi; this report counts them.',
  text: 'Text that is too long is truncated; characters that cannot be stored are removed or replaced.',
  email: 'A value that is not an email address is not imported.',
  number: 'A number that is out of range becomes the nearest one that is allowed; other text becomes the default.',
  status: 'A status other than 0 and 1 becomes 1 (disabled).',
  date: 'A time that is not valid is not imported.',
  deptDeleted: 'A department whose del_flag is not 0 is not imported.',
  orphan: 'A department whose parent does not exist in its tenant becomes a top-level department.',
  deletedParent:
    'A department whose parent is deleted moves below its nearest ancestor that exists, otherwise to the top level.',
  cycle: 'In a cycle of departments, the one with the lowest id becomes a top-level department.',
  tooDeep: 'A department deeper than BANYAN_DEPARTMENT_LEVELS moves up to the deepest level that is allowed.',
  ancestors: 'parent_id decides. A path in `ancestors` that differs from it is ignored.',
  leader: 'A leader is ignored if they were not imported as a user: leaderId stays empty.',
  userDeleted: 'A user whose del_flag is not 0 is not imported.',
  userName:
    'A user name that is not allowed in Banyan or taken in its tenant (letter case ignored) is replaced: by the name ' +
    'without spaces and with full-width characters normalized (NFKC), by name-id, or by ruoyi-id. ' +
    'The user with the lowest id keeps the name.',
  userDepartment: 'A user whose department was not imported belongs to no department.',
  password:
    'A password that is not a bcrypt hash (cost 4 to 12) cannot be used. The user is imported, and needs a new password from an administrator.',
  passwordKept:
    'A password that changed in RuoYi is imported only while Banyan still has the imported one. Once a user has logged in to Banyan or changed it there, it is kept.',
  postLink: 'A post that does not exist or belongs to another tenant is left out of the position of its users.',
  postsMissing:
    'The database has no table sys_post or sys_user_post that can be read. Positions are not imported, and stay as they are in Banyan.',
  roleLink: 'A role grants nothing if it does not exist, is deleted or disabled, or belongs to another tenant.',
  deletedHere: 'A department or user that was deleted in Banyan is not imported again.',
  vanished: 'What no longer exists in RuoYi stays in Banyan until an administrator deletes it.',
  refused: 'Banyan refused the record or change, for the reason given.',
} as const;

export type Rule = keyof typeof RULES;

export interface Finding {
  rule: Rule;
  /** The code of the tenant in RuoYi; empty: the whole database. */
  tenant: string;
  /** What it is about, such as `department 1893…`. */
  record: string;
  /** The value or the reason. */
  detail?: string;
}

export class Findings {
  readonly all: Finding[] = [];

  add(rule: Rule, tenant: string, record: string, detail?: string): void {
    this.all.push({ rule, tenant, record, ...(detail === undefined ? {} : { detail }) });
  }

  counts(): [Rule, number][] {
    const counts = new Map<Rule, number>();
    for (const { rule } of this.all) counts.set(rule, (counts.get(rule) ?? 0) + 1);
    return [...counts];
  }
}
