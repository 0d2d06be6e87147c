/** An ideographic or a no-break space looks like a space, and people type one for the other. */
const plainSpaces = (text: string): string => text.replaceAll(/[\u3000\u00a0]/g, ' ').replaceAll(/[\u200b\ufeff]/g, '');

/** The text of a name or an id: only spaces around it are removed, because `张　三` and `张 三` are different names. */
export function cleanName(text: string): string {
  // Not one expression for both ends: it would take quadratic time for a long run of spaces inside the text.
  const isSpace = (index: number) => {
    const code = text.charCodeAt(index);
    // Most characters are decided without the expression: a hostile file has millions of spaces.
    return code === 0x20 || ((code < 0x20 || code >= 0x80) && /[\s\u200b]/.test(text.charAt(index)));
  };
  let [start, end] = [0, text.length];
  while (start < end && isSpace(start)) start++;
  while (end > start && isSpace(end - 1)) end--;
  return text.slice(start, end);
}

/** The text of a number, an address or a word: full-width characters count as the ordinary ones. */
export const cleanCode = (text: string): string => plainSpaces(text).normalize('NFKC').trim();
