import { randomBytes } from 'node:crypto';
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import { asOperator } from '../../db/connect.ts';
import { codeOf } from '../../db/sql.ts';
import { type Environment, readConfig } from '../config.ts';
import { type Regained, regain } from './regaining.ts';

/** Where the command runs, and where it reads and says what it has to. */
interface Terminal {
  environment: Environment;
  input: Readable & { isTTY?: boolean };
  say(line: string): void;
}

/** Returns the exit code: 0 for success, 1 for a mistake in the arguments or input, 2 for any other error. */
export async function resetPassword(args: string[], terminal: Terminal): Promise<number> {
  try {
    await reset(args, terminal);
    return 0;
  } catch (error) {
    const refused = error instanceof Refused;
    terminal.say(refused ? error.message : `The password could not be changed: ${explain(error).replace(/\.$/, '')}.`);
    return refused ? 1 : 2;
  }
}

const USAGE = `Say whose password it is:

  npm run reset-password -- 000000 admin      makes a new password, and shows it
  npm run reset-password -- 000000 admin -    takes the first line of standard input`;

/** A mistake in the arguments or input, which the operator can correct. */
class Refused extends Error {}

async function reset(args: string[], { environment, input, say }: Terminal): Promise<void> {
  const [tenantId, userName, source, ...more] = args;
  // A password on the command line would be seen by everybody on this machine.
  if (!tenantId || !userName || more.length > 0 || (source !== undefined && source !== '-')) throw new Refused(USAGE);
  const config = readConfig(environment);
  const given = source === '-' ? await readPassword(input, say) : undefined;
  const password = given ?? randomBytes(16).toString('base64url');
  const regained = await asOperator(config, (db) => regain(db, { tenantId, userName }, password));
  if (!regained.found) throw new Refused(whyNot(regained, tenantId, userName));
  const { userName: name, administrator, wasDisabled, standing } = regained;
  say(`
  Tenant     ${tenantId}
  User       ${name} (${administrator ? 'administrator' : 'member, no administrator'})
  Password   ${given === undefined ? `${password}   (shown this once; PUT /auth/password changes it)` : 'as standard input says'}

His sessions have ended${wasDisabled ? ', and he is enabled again' : ''}. The ledger names "operator".`);
  if (standing !== 'in service') {
    say(`Nobody can log in to tenant ${tenantId} yet: it, or one above it, is out of service (${standing}).`);
  }
}

async function readPassword(input: Terminal['input'], say: Terminal['say']): Promise<string> {
  if (input.isTTY) say('The new password, then Enter (it is seen as you type):');
  let password = '';
  for await (const line of readline.createInterface({ input })) {
    password = line;
    break;
  }
  input.destroy();
  const length = [...password].length;
  if (length < 8 || length > 128) throw new Refused('A password must have 8 to 128 characters.');
  return password;
}

function whyNot(missing: Exclude<Regained, { found: true }>, tenantId: string, userName: string): string {
  if (!('administrators' in missing)) {
    const what = missing.standing === 'deleted' ? `Tenant ${tenantId} is deleted` : `There is no tenant ${tenantId}`;
    return `${what}. Give the number with which its people log in; that of the topmost tenant is 000000.`;
  }
  const names = missing.administrators.join(', ');
  return `Tenant ${tenantId} has no user ${userName}. ${names ? `Its administrators are: ${names}.` : 'It has no administrator.'}`;
}

function explain(error: unknown): string {
  const { message } = error as Error;
  // No such schema, table or column.
  if (['3F000', '42P01', '42703', '42883'].includes(codeOf(error))) {
    return 'The tables are not there, or of another version: start the service once';
  }
  return message || codeOf(error) || 'no answer';
}
