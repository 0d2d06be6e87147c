import { readEnvironment } from '../config.ts';
import { importRuoyi } from './import-ruoyi-command.ts';

/**
 * npm run import-ruoyi -- --from url [--preview] [--report folder]: imports the tenants, departments and users of a
 * RuoYi-Vue-Plus 5.x database. It works while the service is running or stopped, and requires the same settings and permissions as the service.
 */
process.exitCode = await importRuoyi(process.argv.slice(2), {
  environment: readEnvironment(),
  print: (line) => void process.stderr.write(`${line}\n`),
});
