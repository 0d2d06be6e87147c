import { readEnvironment } from '../config.ts';
import { runDemo } from './demo-command.ts';

/** npm run demo -- [--language en]: fills an empty installation, whether or not the service is running. */
process.exitCode = await runDemo(process.argv.slice(2), {
  environment: readEnvironment(),
  print: (line) => void process.stderr.write(`${line}\n`),
});
