import { readEnvironment } from '../config.ts';
import { runDoctor } from './doctor-command.ts';

/** npm run doctor: checks the installation, whether or not the service is running, and says what to do. */
process.exitCode = await runDoctor({
  environment: readEnvironment(),
  print: (line) => void process.stdout.write(`${line}\n`),
});
