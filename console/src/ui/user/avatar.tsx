import { getInitials } from '../initials.ts';
import './user.css';

/** The initials are next to the name, so screen readers skip them. */
export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return (
    <span className={large ? 'user-avatar is-large' : 'user-avatar'} aria-hidden>
      {getInitials(name)}
    </span>
  );
}
