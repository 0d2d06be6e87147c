import fs from 'node:fs';
import path from 'node:path';
import { project } from './process.ts';

/** An instruction of a Dockerfile, such as `RUN npm ci`. */
export interface Instruction {
  name: string;
  text: string;
}

interface Stage {
  from: string;
  /** '' for the last one. */
  name: string;
  instructions: Instruction[];
}

/** Reads deploy/Dockerfile, which has no continued lines. Throws on instructions that the tests cannot run. */
export function readDockerfile(): { arguments: Record<string, string>; stages: Stage[] } {
  const text = fs.readFileSync(path.join(project, 'deploy/Dockerfile'), 'utf8');
  const args: Record<string, string> = {};
  const stages: Stage[] = [];
  for (const line of text.split('\n').filter((each) => each.trim() !== '' && !each.startsWith('#'))) {
    const [, name = '', rest = ''] = /^([A-Z]+) (.*)$/.exec(line) ?? [];
    if (name === 'ARG') args[rest.split('=')[0] as string] = rest.split('=')[1] ?? '';
    else if (name === 'FROM') {
      const [, from = '', stage = ''] = /^(\S+)(?: AS (\S+))?$/.exec(rest) ?? [];
      stages.push({ from, name: stage, instructions: [] });
    } else if (/^(WORKDIR|COPY|RUN|ENV|USER|VOLUME|EXPOSE|HEALTHCHECK|CMD)$/.test(name))
      stages.at(-1)?.instructions.push({ name, text: rest });
    else throw new Error(`The tests cannot run this line of the Dockerfile: ${line}`);
  }
  return { arguments: args, stages };
}

/** Whether .dockerignore leaves out an entry of the project's folder. */
export function isIgnored(entry: string): boolean {
  const patterns = fs.readFileSync(path.join(project, '.dockerignore'), 'utf8').trim().split('\n');
  return patterns.some((pattern) => matches(entry, pattern));
}

const matches = (entry: string, pattern: string): boolean => {
  const expression = pattern
    .replace(/^\*\*\//, '')
    .replaceAll('.', '\\.')
    .replaceAll('*', '[^/]*');
  return new RegExp(`^${expression}$`).test(entry);
};
