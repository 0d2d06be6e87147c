import { randomBytes } from 'node:crypto';
import readline from 'node:readline';
import { asOperator } from '../db/connect.ts';
import { codeOf } from '../db/sql.ts';
import { type Regained, regain } from './auth/regaining.ts';
import { readConfig, readEnvironment } from './config.ts';

/**
 * npm run reset-password -- <tenant> <user> [-]: lets a user in again when no administrator is left who could. Beside the
 * service or without it; whoever can start the service can run it.
 */

const say = (line: string) => process.stderr.write(`${line}\n`);

const USAGE = `Say whose password it is:

  npm run reset-password -- 000000 admin      makes a new password, and shows it
  npm run reset-password -- 000000 admin -    takes the first line of standard input`;

/** What the operator can mend himself. */
class Refused extends Error {}

async function main(args: string[]): Promise<void> {
  const [tenantId, userName, source, ...more] = args;
  // A password on the command line would be seen by everybody on this machine.
  if (!tenantId || !userName || more.length > 0 || (source !== undefined && source !== '-')) throw new Refused(USAGE);
  const config = readConfig(readEnvironment());
  const given = source === '-' ? await readPassword() : undefined;
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

async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) say('The new password, then Enter (it is seen as you type):');
  let password = '';
  for await (const line of readline.createInterface({ input: process.stdin })) {
    password = line;
    break;
  }
  process.stdin.destroy();
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

try {
  await main(process.argv.slice(2));
} catch (error) {
  const refused = error instanceof Refused;
  say(refused ? error.message : `The password could not be changed: ${explain(error).replace(/\.$/, '')}.`);
  process.exitCode = refused ? 1 : 2;
}
