import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { StartupError } from '../startup-error.ts';
import { isAlive } from './processes.ts';
import { runProgram } from './run-program.ts';
import { chownTo, closeFolder, openFolder, type RuntimeUser } from './runtime-user.ts';

/** Creates the data directory if it does not exist, and returns the password that it contains. */
export function openDataDir(dataDir: string): string {
  try {
    fs.mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    fs.accessSync(dataDir, fs.constants.W_OK);
    return readOrCreateSecret(path.join(dataDir, 'postgres-password'));
  } catch (error) {
    throw new StartupError(
      `The data directory ${dataDir} can't be used (${(error as Error).message}). ` +
        'Make the user that runs Banyan its owner, or set BANYAN_DATA_DIR to another directory.',
    );
  }
}

/** Returns the secret in the file, and creates it at the first start. The file appears complete or not at all. */
function readOrCreateSecret(file: string): string {
  if (!fs.existsSync(file)) {
    const newFile = `${file}.new-${process.pid}`;
    fs.rmSync(newFile, { force: true });
    fs.writeFileSync(newFile, randomBytes(24).toString('base64url'), { mode: 0o600, flush: true });
    try {
      fs.linkSync(newFile, file);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error; // Another start was faster.
    }
    fs.rmSync(newFile);
  }
  return fs.readFileSync(file, 'utf8');
}

/** Whether an earlier start created a database in this data directory. */
export const hasDatabase = (dataDir: string) => fs.existsSync(path.join(dataDir, 'postgres/PG_VERSION'));

export const hasCluster = ({ clusterDir }: RuntimeUser) => fs.existsSync(path.join(clusterDir, 'PG_VERSION'));

/** Removes the temporary files and folders of starts that were killed. */
export function removeLeftovers(dataDir: string) {
  for (const name of fs.readdirSync(dataDir)) {
    const pid = Number(/^postgres.*\.new-(\d+)$/.exec(name)?.[1]);
    // Process ids repeat after a restart of the machine or container, so a file with our own id was left by a dead process.
    if (!pid || (pid !== process.pid && isAlive(pid))) continue;
    removeRecursively(path.join(dataDir, name));
  }
}

const MAX_REMOVALS = 100;

/**
 * Removes a file or folder. Retries, because an initdb whose parent was killed may still be writing to the folder or removing
 * it: rmSync of Node.js 24 ends without an error, and without having removed the rest, when it finds that a file is gone.
 */
function removeRecursively(file: string): void {
  for (let n = 0; n < MAX_REMOVALS && fs.existsSync(file); n++) {
    fs.rmSync(file, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

export async function initCluster(runtimeUser: RuntimeUser, dataDir: string, password: string, signal?: AbortSignal) {
  const { clusterDir } = runtimeUser;
  // The cluster is created in another folder and then renamed, so a start that is killed here leaves no incomplete one.
  const newDir = path.join(dataDir, `postgres.new-${process.pid}`);
  const passwordFile = path.join(newDir, 'password');
  fs.mkdirSync(newDir, { mode: 0o700 });
  try {
    fs.writeFileSync(passwordFile, password, { mode: 0o600 });
    for (const file of [newDir, passwordFile]) chownTo(file, runtimeUser);
    const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
    const auth = ['--username=postgres', '--auth=scram-sha-256', '--no-instructions'];
    const paths = (folder: string) => ['-D', `${folder}/cluster`, `--pwfile=${folder}/password`];
    const folder = openFolder(newDir);
    try {
      await runProgram(runtimeUser, 'initdb', [folder], (name) => [...paths(name), ...locale, ...auth], signal).catch(
        (error: Error) => {
          throw isNameless(error) ? namelessUserError(runtimeUser) : error;
        },
      );
    } finally {
      closeFolder(folder);
    }
    try {
      fs.renameSync(path.join(newDir, 'cluster'), clusterDir);
      syncFolder(dataDir);
    } catch (error) {
      // If another start was faster, its database is as good as ours.
      if (!hasCluster(runtimeUser)) {
        throw new StartupError(
          `${clusterDir} exists but contains no database (${(error as Error).message}). Move it to another place.`,
        );
      }
    }
  } finally {
    removeRecursively(newDir);
  }
}

/** Whether initdb failed because its user has no name. It looks the name up although `--username` is given. */
const isNameless = ({ message }: Error) => /could not look up effective user ID/.test(message);

const namelessUserError = ({ uid = process.getuid?.(), gid = process.getgid?.() }: RuntimeUser) =>
  new StartupError(
    `PostgreSQL's initdb needs the name of its user, but user ${uid} has none. ` +
      `Add an entry to /etc/passwd, such as "banyan:x:${uid}:${gid}::/:/usr/sbin/nologin", start Banyan as a user with a name, ` +
      'or set DATABASE_URL to a PostgreSQL 15 or newer.',
  );

/** Flushes a folder: a file that was renamed into it survives a power failure only after that. */
function syncFolder(folder: string) {
  const descriptor = fs.openSync(folder, 'r');
  fs.fsyncSync(descriptor);
  fs.closeSync(descriptor);
}
