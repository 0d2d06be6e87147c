/**
 * Normalizes a user name for comparison: case-insensitive, and independent of how its characters are composed. Converting to
 * upper case first also makes ß equal to ss, and final ς equal to σ.
 */
export const userKey = (userName: string): string => userName.normalize('NFKC').toUpperCase().toLowerCase();
