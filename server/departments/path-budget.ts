import { apiError } from '../http/errors.ts';
import { MAX_RESPONSE_BYTES } from '../http/response-size.ts';

/**
 * The maximum size of a department in a response, without its path: its texts have up to 930 characters, and JSON needs up to
 * six bytes for a character.
 */
const ROW_BYTES = 6_000;

export const pathsTooLong = () => apiError('PATHS_TOO_LONG', { limit: MAX_RESPONSE_BYTES });

/** How many departments with the same path fit into one response, at least one. */
export const rowsFitting = (path: string): number =>
  Math.max(1, Math.floor(MAX_RESPONSE_BYTES / (path.length + ROW_BYTES)));

/**
 * Limits the size of the paths in one response: in a tree that is thousands of levels deep, each department has thousands of
 * ancestors.
 */
export class PathBudget {
  #left = MAX_RESPONSE_BYTES;

  /** Counts another department with a path of this size. Returns false once the budget is exceeded. */
  trySpend(pathBytes: number): boolean {
    this.#left -= pathBytes + ROW_BYTES;
    return this.#left >= 0;
  }

  /** The same for part of a path. Throws if it does not fit. */
  spend(bytes: number): void {
    this.#left -= bytes;
    if (this.#left < 0) throw pathsTooLong();
  }
}
