import type { User, UserInput } from '../api.ts';
import type { Tagged } from '../calls.ts';

/** A person as the form has him. */
export interface Typed {
  userName: string;
  nickName?: string | undefined;
  password?: string;
  deptId?: number | null;
  deptIds?: number[];
  phone?: string | undefined;
  email?: string | undefined;
  role: 'admin' | 'member';
  status: '0' | '1';
  /** Not shown: of the read that it began with. */
  etag?: string;
}

export const typedOf = ({ data: user, etag }: Tagged<User>): Typed => ({
  userName: user.userName,
  nickName: user.nickName ?? '',
  deptId: user.deptId,
  deptIds: user.deptIds,
  phone: user.phone ?? '',
  email: user.email ?? '',
  role: user.roles.includes('admin') ? 'admin' : 'member',
  status: user.status,
  etag,
});

/** All of it, as an update replaces the whole record. */
export const recordOf = (typed: Typed, tenantId: string): Omit<UserInput, 'password'> => ({
  tenantId,
  userName: typed.userName.trim(),
  nickName: typed.nickName?.trim() || null,
  deptId: typed.deptId ?? null,
  deptIds: (typed.deptIds ?? []).filter((id) => id !== typed.deptId),
  phone: typed.phone?.trim() || null,
  email: typed.email?.trim() || null,
  roles: [typed.role],
  status: typed.status,
});

type Labels = Record<'userName' | 'nickName' | 'deptId' | 'deptIds' | 'phone' | 'email' | 'role' | 'status', string> &
  Record<'admin' | 'member' | 'normal' | 'disabled' | 'none', string>;

/** Which fields differ, as people read them. */
export function differencesOf(theirs: Typed, mine: Typed, t: Labels, names: Map<number, string>) {
  const name = (id: number | null | undefined) => (id == null ? '' : (names.get(id) ?? `#${id}`));
  const read = (typed: Typed) => [
    { field: t.userName, text: typed.userName },
    { field: t.nickName, text: typed.nickName },
    { field: t.deptId, text: name(typed.deptId) },
    { field: t.deptIds, text: (typed.deptIds ?? []).map(name).join('、') },
    { field: t.phone, text: typed.phone },
    { field: t.email, text: typed.email },
    { field: t.role, text: t[typed.role] },
    { field: t.status, text: typed.status === '0' ? t.normal : t.disabled },
  ];
  const ours = read(mine);
  return read(theirs).flatMap(({ field, text }, at) => {
    const [their, my] = [text || t.none, ours[at]?.text || t.none];
    return their === my ? [] : [{ field, theirs: their, mine: my }];
  });
}
