import { readEnvironment } from '../config.ts';
import { resetPassword } from './reset-password-command.ts';

/**
 * npm run reset-password -- <tenant> <user> [-]: resets a password when no administrator is left to do it. It works while
 * the service is running or stopped, and requires the same settings and permissions as the service.
 */
process.exitCode = await resetPassword(process.argv.slice(2), {
  environment: readEnvironment(),
  input: process.stdin,
  print: (line) => void process.stderr.write(`${line}\n`),
});
