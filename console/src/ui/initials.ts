/**
 * The characters that stand for a person: the last two of a Chinese name, as 企业微信 and 飞书 show it; otherwise the initials of the
 * first and last word.
 */
export function getInitials(name: string): string {
  const words = name
    .trim()
    .split(/[\s·._-]+/)
    .filter(Boolean);
  const chinese = words.find((word) => /\p{Script=Han}/u.test(word));
  if (chinese) return [...chinese].slice(-2).join('');
  const [first, ...others] = words.map((word) => [...word][0] ?? '');
  return ((first ?? '') + (others.at(-1) ?? '')).toUpperCase();
}
