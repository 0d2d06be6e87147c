#!/usr/bin/env node
import v8 from 'node:v8';
import { version } from '../version.ts';
import { COMMANDS, type CommandName, describeCommand, describeCommands } from './commands.ts';

/**
 * npx banyan <command>: the executable of an installed Banyan. Each command is a separate program that reads process.argv, the
 * same one that `npm run <command>` starts. It is loaded only when it is called.
 */

const [first = 'start', ...rest] = process.argv.slice(2);
const isHelp = (word: string | undefined) => word === '--help' || word === '-h' || word === 'help';
const isCommand = (word: string | undefined): word is CommandName =>
  word !== undefined && Object.hasOwn(COMMANDS, word);
const print = (text: string) => process.stdout.write(`${text}\n`);

if (isHelp(first)) print(isCommand(rest[0]) ? describeCommand(rest[0]) : describeCommands());
else if (first === '--version' || first === '-v') print(version);
else if (!isCommand(first)) {
  process.stderr.write(`There is no command "${first}".\n\n${describeCommands()}\n`);
  process.exitCode = 1;
} else if (rest.some((word) => word === '--help' || word === '-h')) print(describeCommand(first));
else {
  process.argv.splice(2, 1);
  process.setSourceMapsEnabled(true);
  // `npm start` passes this flag to Node.js, which npx cannot do. It makes garbage collection cheaper.
  v8.setFlagsFromString('--no-allocation-site-pretenuring');
  await COMMANDS[first].run();
}
