import './user.css';

const CJK = /\p{Script=Han}/u;

/** The last two characters of a Chinese name, as 企业微信 and 飞书 show it; otherwise the initials of up to two words. */
export function getInitials(name: string): string {
  const characters = [...name.trim()];
  if (characters.some((character) => CJK.test(character))) return characters.slice(-2).join('');
  const words = name.split(/[\s._-]+/).filter(Boolean);
  const [first = '', last = ''] = [words[0], words.length > 1 ? words.at(-1) : undefined];
  return `${[...first][0] ?? ''}${[...last][0] ?? ''}`.toUpperCase();
}

/** Initials stand next to the name, so screen readers skip them. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return (
    <span className={large ? 'user-avatar is-large' : 'user-avatar'} aria-hidden>
      {getInitials(name)}
    </span>
  );
}
