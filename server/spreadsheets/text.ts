/** An ideographic or a no-break space looks like a space, and people type one for the other. */
const plainSpaces = (text: string): string => text.replaceAll(/[\u3000\u00a0]/g, ' ').replaceAll(/[\u200b\ufeff]/g, '');

/** The text of a name: width and punctuation stay, because `（` and `(` are different names. */
export const cleanName = (text: string): string => plainSpaces(text).trim();

/** The text of a number, an address or a word: full-width characters count as the ordinary ones. */
export const cleanCode = (text: string): string => plainSpaces(text).normalize('NFKC').trim();
