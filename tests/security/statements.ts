/** Statements that the service sends, and variants of them without their tenant conditions. */

export interface Statement {
  text: string;
  parameters: unknown[];
}

// Matches `u.tenant_id = $1`, `p.tenant_id = d.tenant_id` and `t.path @> array[$1::text]`, also with two codes.
const condition =
  /(?:\b\w+\.)?\btenant_id = (?:\$\d+|\w+\.tenant_id)|\b\w+\.path @> array\[\s*\$\d+::text(?:,\s*\$\d+::text)*\s*\]/g;

export const tenantConditions = (text: string): string[] => text.match(condition) ?? [];

/** Variants of a statement: for each tenant condition one without it, and one without all of them. */
export function withoutTenantConditions({ text, parameters }: Statement): Statement[] {
  const count = tenantConditions(text).length;
  const remove = (which: (n: number) => boolean): Statement => {
    let n = -1;
    return {
      text: text.replace(condition, (found) => {
        n++;
        return which(n) ? tautology(found) : found;
      }),
      parameters,
    };
  };
  const each = Array.from({ length: count }, (_, at) => remove((n) => n === at));
  return count > 1 ? [...each, remove(() => true)] : each;
}

/** A condition that is always true but uses the same parameters, so that PostgreSQL can infer their types. */
function tautology(found: string): string {
  const parameters = found.match(/\$\d+/g) ?? [];
  const conditions = parameters.map((parameter) => `${parameter}::text is not null`);
  return `(${['true', ...conditions].join(' and ')})`;
}
