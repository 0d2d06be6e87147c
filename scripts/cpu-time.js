// Measures the CPU time of a run: of this process and all processes that it has started, directly or not. Only on
// Linux, which shows the times of processes in /proc.
import fs from 'node:fs';

/** The length of a tick of the clock in /proc/PID/stat. */
const TICK_MS = 10;

/** @typedef {'node' | 'postgres' | 'browser'} Kind */
/**
 * A process. `key` tells it from a later one with the same id. Times are in ticks: `own` is that of the process itself, `reaped`
 * that of exited children that it has waited for.
 * @typedef {{ key: string, parent: number, kind: Kind, own: number, reaped: number }} Process
 */

export class CpuTime {
  /** Milliseconds by kind of process. @type {Record<Kind, number>} */
  ms = { node: 0, postgres: 0, browser: 0 };
  /** The processes of the last sample by id. @type {Map<number, Process>} */
  #last = new Map();
  /** The ids of processes that do not belong to this run. @type {Set<number>} */
  #foreign = new Set();
  /** The PostgreSQL servers below this folder belong to this run: they detach themselves from the process that starts them. */
  folder = '';

  /**
   * Adds what has been used since the last call, and returns the sum. Call it often: when a process exits whose parent has exited
   * before, the time since the last call is lost.
   */
  sample() {
    if (process.platform !== 'linux') return 0;
    const now = this.#readTree();
    /** Time of exited processes that has already been added, by the process that has waited for them. @type {Map<number, number>} */
    const known = new Map();
    for (const [pid, process] of this.#last) {
      if (now.get(pid)?.key === process.key) continue;
      const ancestor = this.#livingAncestor(process, now);
      known.set(ancestor, (known.get(ancestor) ?? 0) + process.own + process.reaped);
    }
    for (const [pid, { key, kind, own, reaped }] of now) {
      const before = this.#last.get(pid);
      const [ownBefore, reapedBefore] = before?.key === key ? [before.own, before.reaped] : [0, 0];
      const newlyReaped = Math.max(0, reaped - reapedBefore - (known.get(pid) ?? 0));
      this.ms[kind] += (own - ownBefore + newlyReaped) * TICK_MS;
    }
    this.#last = now;
    return this.ms.node + this.ms.postgres + this.ms.browser;
  }

  /** @param {Process} process @param {Map<number, Process>} now */
  #livingAncestor(process, now) {
    for (let pid = process.parent; ; ) {
      const parent = this.#last.get(pid);
      if (!parent || now.get(pid)?.key === parent.key) return pid;
      pid = parent.parent;
    }
  }

  /** Returns the processes that this process has started, directly or not, and itself. */
  #readTree() {
    const pids = fs.readdirSync('/proc').map(Number).filter(Boolean);
    this.#foreign = new Set(pids.filter((pid) => this.#foreign.has(pid)));
    /** @type {Map<number, Process>} */
    const read = new Map();
    for (const pid of pids) {
      const found = this.#foreign.has(pid) ? undefined : readProcess(pid);
      if (found) read.set(pid, found);
    }
    /** @type {Map<number, Process>} */
    const tree = new Map();
    /** @param {number} pid @returns {boolean} */
    const isOurs = (pid) => {
      const found = read.get(pid);
      if (!found || tree.has(pid)) return tree.has(pid);
      // A process whose parent has exited stays ours.
      const known = pid === process.pid || this.#last.get(pid)?.key === found.key;
      const ours = known || isOurs(found.parent) || (found.kind === 'postgres' && this.#isInFolder(pid));
      if (ours) tree.set(pid, found);
      else this.#foreign.add(pid);
      return ours;
    };
    for (const pid of read.keys()) isOurs(pid);
    return tree;
  }

  /** @param {number} pid */
  #isInFolder(pid) {
    try {
      return this.folder !== '' && fs.readlinkSync(`/proc/${pid}/cwd`).startsWith(this.folder);
    } catch {
      return false;
    }
  }
}

/** @param {number} pid @returns {Process | undefined} */
function readProcess(pid) {
  try {
    const text = fs.readFileSync(`/proc/${pid}/stat`, 'utf8');
    const command = text.slice(text.indexOf('(') + 1, text.lastIndexOf(')'));
    // The fields after the command: see man 5 proc.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const number = (/** @type {number} */ n) => Number(fields[n]);
    return {
      key: `${pid} ${fields[19]}`,
      parent: number(1),
      kind: kindOf(command),
      own: number(11) + number(12),
      reaped: number(13) + number(14),
    };
  } catch {
    // The process has just exited.
    return undefined;
  }
}

/** @param {string} command @returns {Kind} */
function kindOf(command) {
  if (/^(postgres|initdb|pg_ctl)/.test(command)) return 'postgres';
  return /chrom|headless|firefox|^(Web Content|Isolated Web|WebExtensions|Privileged|RDD|Socket|Utility|forkserver)/i.test(
    command,
  )
    ? 'browser'
    : 'node';
}
