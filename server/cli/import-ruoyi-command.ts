import path from 'node:path';
import { parseArgs } from 'node:util';
import { withServiceConnection } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { type Environment, readConfig } from '../config.ts';
import { importAll } from '../ruoyi-import/import.ts';
import { summarize, totalsOf, writeReport } from '../ruoyi-import/report.ts';
import { readSource } from '../ruoyi-import/source.ts';
import { hasRoot } from '../ruoyi-import/tenants.ts';
import { callOf } from './call.ts';

const USAGE = `Specify the database of RuoYi-Vue-Plus 5.x:

  ${callOf('import-ruoyi', '--from mysql://user@host:3306/ry-vue --preview')}    shows what would be done, and writes nothing
  ${callOf('import-ruoyi', '--from postgres://user@host:5432/ry-vue')}           imports, or continues an import

The password is read from RUOYI_PASSWORD if the URL has none. --report folder says where the report is written.`;

/** A mistake in the arguments, which the operator can correct. */
class UsageError extends Error {}

/**
 * Returns the exit code: 0 for success, 1 for a mistake in the arguments, 2 for any other error or if records differ from RuoYi
 * for no known reason.
 */
export async function importRuoyi(
  args: string[],
  { environment, print }: { environment: Environment; print(line: string): void },
): Promise<number> {
  try {
    return await run(args, environment, print);
  } catch (error) {
    const isUsageError = error instanceof UsageError;
    print(isUsageError ? error.message : `The import stopped: ${explain(error)} Run it again to continue.`);
    return isUsageError ? 1 : 2;
  }
}

async function run(args: string[], environment: Environment, print: (line: string) => void): Promise<number> {
  const { from, preview, report } = readArgs(args);
  const config = readConfig(environment);
  const url = withPassword(from, environment.RUOYI_PASSWORD);
  print('Reading RuoYi …');
  const source = await readSource(url);
  const { departmentLevels, tenantLevels } = config;
  const result = await withServiceConnection(config, async (db) => {
    if (!(await hasRoot(db))) throw new Error('The database of Banyan is empty. Start the service once.');
    return importAll(db, source, { preview, departmentLevels, tenantLevels, progress: print });
  });
  const files = writeReport(report ?? defaultFolder(), result);
  print(`${summarize(result)}\nReport: ${files.join(', ')}`);
  return totalsOf(result.tenants).unexplained === 0 ? 0 : 2;
}

const defaultFolder = () => path.resolve('ruoyi-import', new Date().toISOString().slice(0, 19).replaceAll(':', '-'));

function readArgs(args: string[]) {
  try {
    const { values } = parseArgs({
      args,
      options: { from: { type: 'string' }, preview: { type: 'boolean', default: false }, report: { type: 'string' } },
    });
    if (!values.from || !URL.canParse(values.from)) throw new UsageError(USAGE);
    return { ...values, from: values.from };
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(`${(error as Error).message}\n\n${USAGE}`);
  }
}

/** Command lines are visible to every user of the machine, so the password may come from the environment. */
function withPassword(from: string, password: string | undefined): string {
  const url = new URL(from);
  if (password && url.password === '') url.password = encodeURIComponent(password);
  return url.href;
}

function explain(error: unknown): string {
  const code = errorCode(error);
  if (['3F000', '42P01', '42703', '42883'].includes(code)) {
    return 'The tables of Banyan do not exist or belong to another version. Start the service once.';
  }
  const { message } = error as Error;
  return `${(message || code || 'no response').replace(/\.$/, '')}.`;
}
