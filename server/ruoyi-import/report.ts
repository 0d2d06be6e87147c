import fs from 'node:fs';
import path from 'node:path';
import { type Finding, RULES } from './findings.ts';
import type { Counts, ImportResult, TenantResult } from './import.ts';

/** How many findings of a rule the readable report lists; report.json has all of them. */
const LISTED = 20;

/**
 * Writes report.md to read, report.json with everything, and roles.json with role links, data scopes and posts. Only the
 * operator may read the files: they contain personal data.
 */
export function writeReport(folder: string, result: ImportResult): string[] {
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  const { preview, tenants, findings, roles } = result;
  const contents = {
    'report.md': describeResult(result),
    'report.json': toJson({ preview, totals: totalsOf(tenants), tenants, rules: RULES, findings: findings.all }),
    'roles.json': toJson({ source: 'ruoyi', tenants: roles }),
  };
  return Object.entries(contents).map(([name, text]) => {
    const file = path.join(folder, name);
    fs.writeFileSync(file, text, { mode: 0o600 });
    return file;
  });
}

const toJson = (value: unknown): string => `${JSON.stringify(value, null, 2)}\n`;

const COUNTS = ['inRuoyi', 'planned', 'created', 'changed', 'unchanged'] as const;

export function totalsOf(tenants: readonly TenantResult[]) {
  const sum = (kind: 'departments' | 'users') =>
    Object.fromEntries(COUNTS.map((key) => [key, tenants.reduce((total, each) => total + each[kind][key], 0)]));
  const compared = tenants.flatMap(({ comparison }) => comparison ?? []);
  return {
    tenants: tenants.length,
    departments: sum('departments') as unknown as Counts,
    users: sum('users') as unknown as Counts,
    inBanyan: {
      departments: compared.reduce((total, each) => total + each.departments, 0),
      users: compared.reduce((total, each) => total + each.users, 0),
    },
    matching: compared.reduce((total, each) => total + each.matching, 0),
    explained: compared.reduce((total, each) => total + each.explained.length, 0),
    unexplained: compared.reduce((total, each) => total + each.unexplained.length, 0),
  };
}

/** The lines that the terminal shows at the end. */
export function summarize(result: ImportResult): string {
  const { tenants, departments, users, ...compared } = totalsOf(result.tenants);
  const line = (name: string, counts: Counts) =>
    `  ${name.padEnd(12)} ${counts.inRuoyi} in RuoYi, ${counts.planned} to import: ${counts.created} new, ${counts.changed} changed, ${counts.unchanged} unchanged`;
  const lines = [
    result.preview ? 'Preview: nothing was written to Banyan.' : 'Import finished.',
    `  ${'Tenants'.padEnd(12)} ${tenants}`,
    line('Departments', departments),
    line('Users', users),
    ...result.findings.counts().map(([rule, count]) => `  ${String(count).padStart(6)} × ${RULES[rule]}`),
  ];
  if (!result.preview) {
    const { inBanyan, matching, explained, unexplained } = compared;
    lines.push(
      `Compared: ${inBanyan.departments} departments and ${inBanyan.users} users are in Banyan; ${matching} are in the same place as in RuoYi, ` +
        `${explained} differ because of Banyan's rules or changes made there, ${unexplained} differ for no known reason.`,
    );
  }
  return lines.join('\n');
}

function describeResult(result: ImportResult): string {
  const rows = result.tenants.map(
    ({ ruoyiCode, code, name, outcome, departments, users, comparison }) =>
      `| ${ruoyiCode} | ${code ?? ''} | ${cell(name ?? '')} | ${outcome} | ${COUNTS.map((key) => departments[key]).join(' / ')} ` +
      `| ${COUNTS.map((key) => users[key]).join(' / ')} | ${describeComparison(comparison)} |`,
  );
  return [
    '# Import from RuoYi',
    '```\n'.concat(summarize(result), '\n```'),
    '## Tenants',
    'Departments and users: in RuoYi / to import / new / changed / unchanged.\n',
    '| RuoYi | Banyan | Name | Outcome | Departments | Users | Compared |\n|---|---|---|---|---|---|---|',
    `${rows.join('\n')}\n`,
    '## What was not imported as is, and by which rule',
    ...result.findings.counts().map(([rule, count]) => {
      const found = result.findings.all.filter((each) => each.rule === rule);
      const rest = count > LISTED ? `- … ${count - LISTED} more in report.json\n` : '';
      return `### ${RULES[rule]} (${count})\n\n${found.slice(0, LISTED).map(describeFinding).join('')}${rest}`;
    }),
  ].join('\n');
}

const describeFinding = ({ tenant, record, detail }: Finding): string =>
  `- ${tenant && `${tenant}: `}${record}${detail === undefined ? '' : `: ${cell(detail)}`}\n`;

/** Keeps text of RuoYi from breaking a table or adding markup. */
const cell = (text: string): string => text.replace(/[\s|<>`]+/g, ' ').slice(0, 200);

const describeComparison = (comparison: TenantResult['comparison']): string => {
  if (!comparison) return '';
  const { matching, explained, unexplained } = comparison;
  return [`${matching} same`, ...[...unexplained, ...explained].slice(0, 5).map(cell)].join('; ');
};
