import { randomBytes } from 'node:crypto';
import readline from 'node:readline';
import type { Readable } from 'node:stream';
import { withServiceConnection } from '../../db/connect.ts';
import { errorCode } from '../../db/errors.ts';
import { type Environment, readConfig } from '../config.ts';
import { ApiError } from '../http/errors.ts';
import { hasPasswordLength } from '../http/fields.ts';
import { type Recovery, recoverAccount } from '../users/account-recovery.ts';
import { callOf } from './call.ts';

/** The environment, input and output of the command. */
interface Terminal {
  environment: Environment;
  input: Readable & { isTTY?: boolean };
  print(line: string): void;
}

/** Returns the exit code: 0 for success, 1 for a mistake in the arguments or input, 2 for any other error. */
export async function resetPassword(args: string[], terminal: Terminal): Promise<number> {
  try {
    await reset(args, terminal);
    return 0;
  } catch (error) {
    const isUsageError = error instanceof UsageError;
    terminal.print(
      isUsageError ? error.message : `The password could not be changed: ${explain(error).replace(/\.$/, '')}.`,
    );
    return isUsageError ? 1 : 2;
  }
}

const USAGE = `Specify the tenant and the user:

  ${callOf('reset-password', '000000 admin')}      generates a password and prints it
  ${callOf('reset-password', '000000 admin -')}    reads the password from the first line of standard input`;

/** A mistake in the arguments or input, which the operator can correct. */
class UsageError extends Error {}

async function reset(args: string[], { environment, input, print }: Terminal): Promise<void> {
  const [tenantId, userName, source, ...rest] = args;
  // Accept no password as an argument: every user of the machine can read command lines.
  if (!tenantId || !userName || rest.length > 0 || (source !== undefined && source !== '-'))
    throw new UsageError(USAGE);
  const config = readConfig(environment);
  const chosen = source === '-' ? await readPassword(input, print) : undefined;
  const password = chosen ?? randomBytes(16).toString('base64url');
  const recovery = await withServiceConnection(config, (db) =>
    recoverAccount(db, { tenantId, userName }, password),
  ).catch((error) => {
    // The password that the operator has chosen is too easy to guess.
    throw error instanceof ApiError ? new UsageError(error.text('en')) : error;
  });
  if (!recovery.found) throw new UsageError(explainMissing(recovery, tenantId, userName));
  const { userName: name, administrator, wasDisabled, state } = recovery;
  print(`
  Tenant     ${tenantId}
  User       ${name} (${administrator ? 'administrator' : 'member'})
  Password   ${chosen === undefined ? `${password}   (shown only once; change it with PUT /auth/password)` : 'as read from standard input'}

All sessions of the user have ended${wasDisabled ? ', and the user is enabled again' : ''}. The ledger names "operator" as the author of the change.`);
  if (state !== 'in service') {
    print(`Users of tenant ${tenantId} cannot log in yet: it or one of its ancestors is not active (${state}).`);
  }
}

async function readPassword(input: Terminal['input'], print: Terminal['print']): Promise<string> {
  if (input.isTTY) print('Type the new password and press Enter (it is visible as you type):');
  let password = '';
  for await (const line of readline.createInterface({ input })) {
    password = line;
    break;
  }
  input.destroy();
  if (!hasPasswordLength(password)) throw new UsageError('A password must have 8 to 128 characters.');
  return password;
}

function explainMissing(missing: Exclude<Recovery, { found: true }>, tenantId: string, userName: string): string {
  if (!('administrators' in missing)) {
    const problem = missing.state === 'deleted' ? 'is deleted' : 'does not exist';
    return `Tenant ${tenantId} ${problem}. Use the code with which its users log in; that of the root tenant is 000000.`;
  }
  const names = missing.administrators.join(', ');
  return `Tenant ${tenantId} has no user ${userName}. ${names ? `Its administrators are: ${names}.` : 'It has no administrator.'}`;
}

function explain(error: unknown): string {
  const { message } = error as Error;
  // The schema, or a table, column or function, does not exist.
  if (['3F000', '42P01', '42703', '42883'].includes(errorCode(error))) {
    return 'The tables do not exist or belong to another version. Start the service once';
  }
  return message || errorCode(error) || 'no response';
}
