/** Statements as the service sends them, and the same with their tenant conditions cut out. */

export interface Statement {
  text: string;
  parameters: unknown[];
}

// `u.tenant_id = $1`, `p.tenant_id = d.tenant_id`, `t.path @> array[$1::text]`, also of two codes
const condition =
  /(?:\b\w+\.)?tenant_id = (?:\$\d+|\w+\.tenant_id)|\b\w+\.path @> array\[\s*\$\d+::text(?:,\s*\$\d+::text)*\s*\]/g;

export const tenantConditions = (text: string): string[] => text.match(condition) ?? [];

/** With each tenant condition cut out in turn, and with all of them. */
export function without({ text, parameters }: Statement): Statement[] {
  const count = tenantConditions(text).length;
  const cut = (which: (n: number) => boolean): Statement => {
    let n = -1;
    return {
      text: text.replace(condition, (found) => {
        n++;
        return which(n) ? always(found) : found;
      }),
      parameters,
    };
  };
  const each = Array.from({ length: count }, (_, at) => cut((n) => n === at));
  return count > 1 ? [...each, cut(() => true)] : each;
}

/** Something that always holds and still names the parameters, or PostgreSQL could not tell their types. */
function always(found: string): string {
  const parameters = found.match(/\$\d+/g) ?? [];
  const named = parameters.map((parameter) => `${parameter}::text is not null`);
  return `(${['true', ...named].join(' and ')})`;
}
