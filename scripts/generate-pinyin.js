import fs from 'node:fs';
import { pinyin } from 'pinyin-pro';

/**
 * Writes db/schema/functions/pinyin_readings.sql: the readings of Chinese characters, which the search index is made of.
 * Indexes use that function: after a release, changing the dictionary requires a migration that rebuilds them.
 *
 *   node scripts/generate-pinyin.js
 */
const FIRST = 0x4e00;
const LAST = 0x9fff;
/** At most this many readings of a character are kept: the most common ones. */
const MAX_READINGS = 3;
const FILE = new URL('../db/schema/functions/pinyin_readings.sql', import.meta.url);

/** Interjections such as ng and hm, and characters without a reading, are left out. */
const isSyllable = (text) => /^[a-z]+$/.test(text) && /[aeiouv]/.test(text);

/** Returns the readings of a character without tones, `v` for ü. */
const readingsOf = (character) =>
  [...new Set(pinyin(character, { multiple: true, toneType: 'none', type: 'array', v: true }))]
    .filter(isSyllable)
    .slice(0, MAX_READINGS);

export function dictionarySql() {
  const characters = [];
  for (let code = FIRST; code <= LAST; code++) characters.push(readingsOf(String.fromCharCode(code)));
  const syllables = [...new Set(characters.flat())].sort();
  // A reading is a number: its first letter (1 to 26) times 512, plus its place among the syllables.
  const numberOf = new Map(syllables.map((text, n) => [text, (text.charCodeAt(0) - 96) * 512 + n]));
  // Characters with one reading have its number, others 32768 plus the number of their set of readings, or 0 for none.
  const sets = [...new Set(characters.filter(({ length }) => length > 1).map((readings) => readings.join(' ')))];
  const placeOf = new Map(sets.map((set, n) => [set, n]));
  const codeOf = (readings) =>
    readings.length > 1 ? 32768 + placeOf.get(readings.join(' ')) : (numberOf.get(readings[0]) ?? 0);
  const bytes = Buffer.concat([
    ...characters.map((readings) => uint16(codeOf(readings))),
    ...sets.map((set) => {
      const numbers = set.split(' ').map((text) => numberOf.get(text));
      return Buffer.concat(Array.from({ length: MAX_READINGS }, (_, n) => uint16(numbers[n] ?? 0)));
    }),
    Buffer.from(syllables.join(' ')),
  ]);
  const lines = bytes.toString('base64').match(/.{1,120}/g);
  return `-- Written by scripts/generate-pinyin.js from the dictionary of pinyin-pro (MIT licence). The bytes are:
-- for each character from U+4E00 to U+9FFF, two bytes: its reading, 0 for none, or 32768 plus the number of its set of
-- readings; for each set six bytes: up to three readings; and the names of all syllables, separated by spaces. A reading is
-- 512 times its first letter (a = 1) plus the number of its syllable.
-- Indexes use this function: changing it requires a migration that rebuilds them.
create or replace function pinyin_readings() returns bytea language sql immutable parallel safe as $$ select decode('
${lines.join('\n')}
', 'base64') $$;
`;
}

const uint16 = (number) => Buffer.from([number >> 8, number & 255]);

if (process.argv[1] === import.meta.filename) fs.writeFileSync(FILE, dictionarySql());
