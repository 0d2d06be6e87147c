import assert from 'node:assert/strict';
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';
import { after } from '../support/cleanup.ts';
import { waitFor } from '../support/wait.ts';
import { readBatches, readCursor, type SubscriberOptions, stateFile } from './subscriber-file.ts';

/** A change, as far as these tests read it. */
export interface Row {
  id: number;
  /** Only in the feed of a subtree. */
  tenantId?: string;
  resource: string;
  before: { deptId: number } | null;
  after: { deptId: number; parentId: number; deptName: string } | null;
}

/** A subscriber process and the changes it has saved. Starts and kills run one after another. */
export class Subscriber {
  private readonly options: Omit<SubscriberOptions, 'base'>;
  private child: ChildProcess | undefined;
  private pending = Promise.resolve();
  private base = '';

  constructor(options: Omit<SubscriberOptions, 'base'>) {
    this.options = options;
    after(() => this.kill());
  }

  /** Starts the process, which resumes from its last cursor. A running process receives the service's new address. */
  start(base: string): Promise<void> {
    this.pending = this.pending.then(() => {
      this.base = base;
      this.child ??= fork(fileURLToPath(new URL('./subscriber.js', import.meta.url)), { execArgv: [] });
      this.child.send({ ...this.options, base });
    });
    return this.pending;
  }

  kill(): Promise<void> {
    this.pending = this.pending.then(async () => {
      if (!this.child) return;
      this.child.kill('SIGKILL');
      await once(this.child, 'exit');
      this.child = undefined;
    });
    return this.pending;
  }

  /** Waits until all changes up to a position have been saved. A failure says what the process was doing. */
  async waitForPosition(position: number): Promise<void> {
    try {
      await waitFor('the subscriber has received all changes', () => this.cursor() >= position);
    } catch (error) {
      const { transport, file } = this.options;
      const exited = this.child?.exitCode ?? this.child?.signalCode ?? 'running';
      const state = fs.existsSync(stateFile(file)) ? fs.readFileSync(stateFile(file), 'utf8') : 'no request yet';
      const details = `${transport}, at ${this.cursor()} of ${position}, process: ${exited}, service: ${this.base}, last request: ${state}`;
      throw new Error(`${(error as Error).message} (${details})`);
    }
  }

  private cursor = () => Number(readCursor(this.options.file));
  received = () => readBatches(this.options.file).flatMap(({ rows }) => rows as Row[]);
}

/** Rebuilds the departments from these changes alone. */
export function rebuild(rows: Row[]) {
  const tree = new Map<number, NonNullable<Row['after']>>();
  for (const { resource, before, after } of rows) {
    if (resource !== 'department') continue;
    if (before) assert.ok(tree.has(before.deptId), `a change of unknown department ${before.deptId}`);
    if (!after) tree.delete(before?.deptId as number);
    else {
      // A department never comes before its parent.
      if (after.parentId !== 0) assert.ok(tree.has(after.parentId), `${after.deptId} below an unknown parent`);
      tree.set(after.deptId, after);
    }
  }
  return [...tree.values()]
    .map(({ deptId, parentId, deptName }) => ({ deptId, parentId, deptName }))
    .sort((a, b) => a.deptId - b.deptId);
}
