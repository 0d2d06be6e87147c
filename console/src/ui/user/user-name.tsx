import type { User } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { useMe } from '../../session.ts';
import { LiveMark } from '../live-mark.tsx';
import { StatusTag } from '../status-tag.tsx';
import { Avatar } from './avatar.tsx';
import { PersonLink } from './person-link.tsx';
import { userTexts } from './texts.ts';
import { getDisplayName } from './update-user.ts';

interface Props {
  user: User;
  hidesUserName?: boolean;
  /** Whether the user leads the department whose members are listed. */
  isLeader?: boolean;
}

/** A user in a list: initials, name with a link, and user name, unless a column shows it. */
export function UserName({ user, hidesUserName = false, isLeader = false }: Props) {
  const t = useTexts(userTexts);
  const { user: me } = useMe();
  const name = getDisplayName(user);
  return (
    <div className="user-label">
      <Avatar name={name} />
      <div>
        <PersonLink id={user.userId} tenantId={user.tenantId}>
          {name}
        </PersonLink>
        {isLeader && <StatusTag tone="info">{t.leader}</StatusTag>}
        {user.userId === me.userId && user.tenantId === me.tenantId && <StatusTag tone="success">{t.self}</StatusTag>}
        <LiveMark resource="user" id={user.userId} />
        {user.nickName && !hidesUserName && <div className="secondary">{user.userName}</div>}
      </div>
    </div>
  );
}

export function UserStatus({ user: { status }, onlyDisabled = false }: { user: User; onlyDisabled?: boolean }) {
  const t = useTexts(userTexts);
  if (status === '0') return onlyDisabled ? null : <StatusTag tone="success">{t.normal}</StatusTag>;
  return <StatusTag>{t.disabled}</StatusTag>;
}
