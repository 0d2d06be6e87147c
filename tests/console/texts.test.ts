import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';

/** The strings of the console's texts, without the values that are inserted into them. */
function readTexts(): { file: string; language: 'zh' | 'en'; text: string }[] {
  const folder = 'console/src';
  const files = fs
    .readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /texts?\.ts$/.test(name));
  return files.flatMap((file) => {
    const source = fs.readFileSync(path.join(folder, file), 'utf8');
    // A file may have several lists of texts; each has the Chinese ones first.
    return source.split(/^ {2}(?=(?:zh|en): \{)/m).flatMap((section) => {
      const language = section.startsWith('zh:') ? 'zh' : section.startsWith('en:') ? 'en' : undefined;
      if (!language) return [];
      const strings = section.match(/'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\.)*`/g) ?? [];
      return strings.map((text) => ({ file, language, text: text.replace(/\$\{[^}]*\}/g, '0') }) as const);
    });
  });
}

test('the texts use the vocabulary of console/README.md, and the punctuation of their language', () => {
  const rows = fs.readFileSync('console/README.md', 'utf8').matchAll(/^\| [^|]+ \| [^|]+ \| ([^|]+) \|$/gm);
  const [, ...lists] = [...rows].map(([, list = '']) => list);
  const words = lists.flatMap((list) => list.split(',').map((word) => word.trim()));
  assert.ok(words.includes('子租户') && words.includes('sign in'));
  const toPattern = (word: string) => new RegExp(/\p{Script=Han}/u.test(word) ? word : `\\b${word}\\b`, 'iu');
  const patterns = words.map(toPattern);
  const texts = readTexts();
  assert.ok(texts.length > 1000, `${texts.length} texts`);
  const faults = texts.flatMap(({ file, language, text }) => [
    ...patterns.filter((pattern) => pattern.test(text)).map((pattern) => `${file}: ${text} has ${pattern.source}`),
    ...(language === 'en' && /[\p{Script=Han}，。、；：？！（）《》【】]/u.test(text)
      ? [`${file}: ${text} is not English`]
      : []),
    ...(language === 'zh' && /\p{Script=Han}[,:;!?]|[,:;!?]\p{Script=Han}/u.test(text)
      ? [`${file}: ${text} has ASCII punctuation`]
      : []),
  ]);
  assert.deepEqual(faults, []);
});
