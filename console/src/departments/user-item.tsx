import type { User } from '../api.ts';
import { useTexts } from '../language.ts';
import { PhoneLink } from '../ui/phone-link.tsx';
import { StatusTag } from '../ui/status-tag.tsx';
import { departmentsTexts } from './texts.ts';

/** A user of a department that is about to be deleted. */
export function UserItem({ user }: { user: User }) {
  const t = useTexts(departmentsTexts);
  return (
    <li>
      <span className="departments-item-main">
        <span>
          {user.nickName || user.userName}
          {user.nickName && <span className="secondary"> {user.userName}</span>}
        </span>
        <span className="secondary">{[user.position, user.email].filter(Boolean).join(' · ')}</span>
        {user.phone && <PhoneLink phone={user.phone} />}
      </span>
      <span className="departments-item-tags">
        {user.roles.includes('admin') && <StatusTag tone="success">{t.administrator}</StatusTag>}
        {user.status === '1' && <StatusTag>{t.disabled}</StatusTag>}
      </span>
    </li>
  );
}
