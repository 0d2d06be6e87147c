import { resetPassword } from './auth/reset-password.ts';
import { readEnvironment } from './config.ts';

/**
 * npm run reset-password -- <tenant> <user> [-]: lets a user in again when no administrator is left who could. Beside the
 * service or without it; whoever can start the service can run it.
 */
process.exitCode = await resetPassword(process.argv.slice(2), {
  environment: readEnvironment(),
  input: process.stdin,
  say: (line) => void process.stderr.write(`${line}\n`),
});
