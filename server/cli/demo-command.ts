import { parseArgs } from 'node:util';
import { openDatabase, withOwnerConnection, withServiceConnection } from '../../db/connect.ts';
import { hasDatabase } from '../../db/embedded/data-dir.ts';
import { errorCode } from '../../db/errors.ts';
import type { PasswordCost } from '../auth/passwords.ts';
import { type Config, type Environment, readConfig } from '../config.ts';
import { fillWithDemoData } from '../demo/fill.ts';
import type { Language } from '../demo/organization.ts';
import { createFirstAdministratorOnce } from '../process/first-start.ts';
import { callOf } from './call.ts';

interface Options {
  environment: Environment;
  print(line: string): void;
  /** Tests use a cheaper hash. */
  passwordCost?: PasswordCost;
  /** When the history of the data ends. Tests use a day on which the command once failed. */
  now?: Date;
}

/** Returns the exit code: 0 for success, 1 for a mistake in the arguments, 2 for any other error. */
export async function runDemo(args: string[], { environment, print, ...options }: Options): Promise<number> {
  let language: Language;
  try {
    language = readLanguage(args);
  } catch (error) {
    print(`${(error as Error).message}\n\n  ${callOf('demo', '[--language zh|en]')}`);
    return 1;
  }
  try {
    await fill(readConfig(environment), language, print, options);
    return 0;
  } catch (error) {
    const hint = errorCode(error) === '42501' ? ' Set DATABASE_URL to connect as the owner of the tables.' : '';
    print(`The data could not be created: ${(error as Error).message.replace(/\.$/, '')}.${hint}`);
    return 2;
  }
}

function readLanguage(args: string[]): Language {
  const { language } = parseArgs({ args, options: { language: { type: 'string', default: 'zh' } } }).values;
  if (language !== 'zh' && language !== 'en') throw new Error(`There is no language "${language}": use zh or en.`);
  return language;
}

async function fill(
  config: Config,
  language: Language,
  print: (line: string) => void,
  { passwordCost, now = new Date() }: Pick<Options, 'passwordCost' | 'now'>,
): Promise<void> {
  // A new database has no tables yet. An embedded one that exists may be in use by the service.
  if (config.databaseUrl || !hasDatabase(config.dataDir)) await (await openDatabase(config)).close();
  await withOwnerConnection(config, (owner) =>
    withServiceConnection(config, async (db) => {
      const first = await createFirstAdministratorOnce(db, config, passwordCost);
      if (first?.generatedPassword)
        print(`First administrator: ${first.userName} of 000000, password ${first.generatedPassword}`);
      const limits = { maxLevels: config.departmentLevels, tenantLevels: config.tenantLevels };
      const progress = (line: string) => print(`  ${line} …`);
      const options = { language, limits, now, progress, passwordCost };
      const { password, logins } = await fillWithDemoData({ db, owner }, options);
      print(
        '\nThe demonstration data has 300 departments, 500 people and 12 tenants below 000000. One tenant is ' +
          'disabled, the service period of another has ended, and that of a third has not started yet. ' +
          'The administrators:\n',
      );
      for (const { tenantId, userName, tenantName } of logins)
        print(`  Tenant ${tenantId}   User ${userName.padEnd(20)} ${tenantName}`.trimEnd());
      print(`\n  Password   ${password}   (for all demo accounts; shown only once)`);
    }),
  );
}
