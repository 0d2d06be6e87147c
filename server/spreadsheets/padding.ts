/** Number formats that show leading zeros, such as `00000000` for employee numbers or `000-0000-0000` for phone numbers. */

/** The parts of a format: text, a space as wide as a character, a filling character, a digit, a separator. */
const PART = /"([^"]*)"|\\(.)|_.|\*.|(0)|([-/() +])/g;

/** Returns the parts of the format of positive numbers, or none if it has others, such as `.`, `#`, `%`, `E` or a date. */
function partsOf(format: string): { text: string; isDigit: boolean }[] {
  // Colours, conditions and languages, such as [Red] and [$-804].
  const section = format.replaceAll(/\[[^\]]*\]/g, '').split(';', 1)[0] ?? '';
  const parts: { text: string; isDigit: boolean }[] = [];
  let end = 0;
  for (const { 0: part, 1: quoted, 2: escaped, 3: zero, 4: separator, index } of section.matchAll(PART)) {
    if (index !== end) return [];
    end += part.length;
    parts.push({ text: quoted ?? escaped ?? separator ?? '', isDigit: zero !== undefined });
  }
  return end === section.length ? parts : [];
}

const countDigits = (parts: readonly { isDigit: boolean }[]): number => parts.filter(({ isDigit }) => isDigit).length;

export const isPadding = (format: string): boolean => countDigits(partsOf(format)) >= 2;

/**
 * Shows the digits of an integer in such a format. If the number has more digits than the format, the first digit of the format
 * stands for all surplus leading digits.
 */
export function pad(digits: string, format: string): string {
  const parts = partsOf(format);
  const count = countDigits(parts);
  const padded = digits.padStart(count, '0');
  let used = padded.length - count;
  let isFirst = true;
  const shown = parts.map(({ text, isDigit }) => {
    if (!isDigit) return text;
    const from = isFirst ? 0 : used;
    isFirst = false;
    return padded.slice(from, ++used);
  });
  return shown.join('').trim();
}
