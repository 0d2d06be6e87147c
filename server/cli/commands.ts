interface Command {
  summary: string;
  /** What follows the name of the command, one line for each way to call it, with its meaning. */
  usage: [args: string, meaning: string][];
  /** Loads the program of the command, which reads process.argv and sets the exit code. */
  run(): Promise<unknown>;
}

/** The commands of `npx banyan`, in the order in which the help lists them. */
export const COMMANDS = {
  start: {
    summary: 'runs the service; the default if no command is given',
    usage: [['', 'with the settings of the environment and of .env in this folder; by default the data is in ./data']],
    run: async () => (await import('../process/run.ts')).run(),
  },
  doctor: {
    summary: 'checks settings, database and machine, and says what to do',
    usage: [['', 'exits with 1 if something is wrong; the service may be running or stopped']],
    run: () => import('./doctor.ts'),
  },
  backup: {
    summary: 'copies the embedded database, whether or not the service is running',
    usage: [['--to folder', 'a folder that does not exist yet']],
    run: () => import('./backup.ts'),
  },
  restore: {
    summary: 'restores a backup of the embedded database, and verifies it',
    usage: [
      ['--from folder', 'a backup, or a folder with several, of which the newest is used; stop the service first'],
      ['--from folder --replace', 'moves the existing database aside'],
      [
        '--from folder --until 2026-01-31T12:00:05Z',
        'also applies the archive in BANYAN_WAL_ARCHIVE up to that time; `latest`: all of it',
      ],
    ],
    run: () => import('./restore.ts'),
  },
  demo: {
    summary: 'fills an empty installation with a group of companies and a year of history',
    usage: [
      ['', 'in Chinese'],
      ['--language en', 'in English'],
    ],
    run: () => import('./demo.ts'),
  },
  'reset-password': {
    summary: 'sets a new password for a user',
    usage: [
      ['000000 admin', 'generates a password and prints it'],
      ['000000 admin -', 'reads the password from the first line of standard input'],
    ],
    run: () => import('./reset-password.ts'),
  },
  'verify-ledger': {
    summary: 'checks that the history of changes is unaltered',
    usage: [
      ['', 'checks the hash chains and compares every record with its changes'],
      ['--anchor [--key private-key.pem]', 'also prints the last hash of every chain'],
      ['--compare anchor.json [--key key.pem]', 'compares the chains with hashes that were printed earlier'],
    ],
    run: () => import('./verify-ledger.ts'),
  },
  export: {
    summary: 'writes all data to files',
    usage: [['--to folder', 'a folder that does not exist yet']],
    run: () => import('./export.ts'),
  },
  import: {
    summary: 'reads an export into an empty database',
    usage: [['--from folder', 'the folder of an export']],
    run: () => import('./import.ts'),
  },
  'import-ruoyi': {
    summary: 'imports tenants, departments and users of RuoYi-Vue-Plus 5.x',
    usage: [
      ['--from mysql://user@host:3306/ry-vue --preview', 'shows what would be done, and writes nothing'],
      [
        '--from postgres://user@host:5432/ry-vue',
        'imports, or continues an import; --report folder says where the report is written',
      ],
    ],
    run: () => import('./import-ruoyi.ts'),
  },
} as const satisfies Record<string, Command>;

export type CommandName = keyof typeof COMMANDS;

export function describeCommands(): string {
  const rows = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(16)}${summary}`);
  return [
    'Banyan 榕树, a multi-tenant organization service',
    '',
    'npx banyan [command] [options]',
    '',
    ...rows,
    '',
    'npx banyan <command> --help explains a command, npx banyan --version prints the version.',
  ].join('\n');
}

export function describeCommand(name: CommandName): string {
  const { summary, usage }: Command = COMMANDS[name];
  const calls = usage.map(([args, meaning]) => `  npx banyan ${name} ${args}`.trimEnd().concat(`\n      ${meaning}`));
  return [`${name}: ${summary}`, '', ...calls].join('\n');
}
