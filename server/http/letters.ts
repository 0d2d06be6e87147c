import { refuse } from './refusals.ts';

const AT_MOST = 50_000_000;

/**
 * Counts the letters of the paths in an answer, and refuses what is too much for one: thousands of levels deep, each
 * department has thousands of ids above it, and as many names.
 */
export function countLetters(): (more: number) => void {
  let letters = 0;
  return (more) => {
    letters += more;
    if (letters > AT_MOST) throw refuse('PATHS_TOO_LONG', { limit: AT_MOST });
  };
}
