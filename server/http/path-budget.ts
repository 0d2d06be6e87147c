import { apiError } from './errors.ts';

const MAX_CHARACTERS = 50_000_000;

/**
 * Limits the size of the paths in one response: in a tree that is thousands of levels deep, each department has thousands of
 * ancestors. The returned function adds characters and throws when there are too many.
 */
export function createPathBudget(): (characters: number) => void {
  let total = 0;
  return (characters) => {
    total += characters;
    if (total > MAX_CHARACTERS) throw apiError('PATHS_TOO_LONG', { limit: MAX_CHARACTERS });
  };
}
