import os from 'node:os';
import type { Config } from '../config.ts';

/** Where JSON lines go. */
export interface Output {
  write(line: string): void;
}

/**
 * What is logged in one turn is written at once. Not through the logger's own stream, which blocks the process for ever
 * when the terminal is closed.
 */
export function standardOutput(): Output {
  let lines: string[] = [];
  const flush = () => {
    let piece = '';
    for (const line of lines) {
      if (piece.length + line.length > WHOLE) {
        process.stdout.write(piece);
        piece = '';
      }
      piece += line;
    }
    if (piece) process.stdout.write(piece);
    lines = [];
  };
  process.once('exit', flush);
  return {
    write(line: string) {
      if (lines.length === 0) setImmediate(flush);
      lines.push(line);
    },
  };
}

/** Several workers write to one pipe, in which 4,096 bytes stay together; letters may take more than one. */
const WHOLE = 2_000;

/** What an operator is told of a request. */
export interface Answered {
  requestId: string;
  method: string;
  path: string;
  status: number;
  /** Of a refusal, what its body says: the status may be 200 all the same. */
  code?: number | undefined;
  ms: number;
  from: string | undefined;
  token: { tenantId: string; userId: string } | null;
  /** False: the connection ended before the answer did. */
  whole: boolean;
}

const TOLD: Config['logLevel'][] = ['trace', 'debug', 'info'];

/**
 * The line of an answer, as the logger would write it: by hand, because it is written with every one, and the logger took
 * longer for it than the service for a read. Ids are digits, or were checked.
 */
export function makeAnswerLog(output: Output, level: Config['logLevel']): (answered: Answered) => void {
  if (!TOLD.includes(level)) return () => {};
  const here = `"pid":${process.pid},"hostname":${JSON.stringify(os.hostname())}`;
  return ({ requestId, method, path, status, code = status, ms, from = '', token, whole }) => {
    const outcome = `"status":${status}${code === status ? '' : `,"code":${code}`}`;
    const what = `"method":"${method}","path":${JSON.stringify(path)},${outcome},"ms":${Math.round(ms * 10) / 10}`;
    const who = token ? `,"tenantId":"${token.tenantId}","userId":"${token.userId}"` : '';
    const msg = whole ? 'answered' : 'the connection ended before the answer';
    output.write(
      `{"level":30,"time":${Date.now()},${here},"requestId":"${requestId}",${what},"from":${JSON.stringify(from)}${who},"msg":"${msg}"}\n`,
    );
  };
}

/**
 * Of an answer that came after the deadline had answered, the deadline's own line tells. The framework would tell of it
 * again, with the whole address: what somebody searched for is not for the log.
 */
export function logMethod(this: unknown, args: unknown[], method: (...args: unknown[]) => void): void {
  const { err } = (args[0] ?? {}) as { err?: { code?: string } };
  if (err?.code !== 'FST_ERR_REP_ALREADY_SENT') method.apply(this, args);
}
