import type { User, UserInput } from '../../api.ts';
import type { Versioned } from '../../request.ts';

export interface UserFormValues {
  userName: string;
  nickName?: string | undefined;
  position?: string | undefined;
  password?: string;
  deptId?: number | null;
  deptIds?: number[];
  phone?: string | undefined;
  email?: string | undefined;
  role: 'admin' | 'member';
  status: '0' | '1';
  /** The version that the form was filled with. It has no input field. */
  etag?: string;
}

export const toFormValues = ({ data: user, etag }: Versioned<User>): UserFormValues => ({
  userName: user.userName,
  nickName: user.nickName ?? '',
  position: user.position ?? '',
  deptId: user.deptId,
  deptIds: user.deptIds,
  phone: user.phone ?? '',
  email: user.email ?? '',
  role: user.roles.includes('admin') ? 'admin' : 'member',
  status: user.status,
  etag,
});

/** Returns all fields, because an update replaces the whole record. */
export const toInput = (values: UserFormValues, tenantId: string): Omit<UserInput, 'password'> => ({
  tenantId,
  userName: values.userName.trim(),
  nickName: values.nickName?.trim() || null,
  position: values.position?.trim() || null,
  deptId: values.deptId ?? null,
  deptIds: (values.deptIds ?? []).filter((id) => id !== values.deptId),
  phone: values.phone?.trim() || null,
  email: values.email?.trim() || null,
  roles: [values.role],
  status: values.status,
});

type Labels = Record<
  'userName' | 'nickName' | 'position' | 'deptId' | 'deptIds' | 'phone' | 'email' | 'role' | 'status',
  string
> &
  Record<'admin' | 'member' | 'normal' | 'disabled' | 'none', string>;

/** The fields that differ, with labels and display values. */
export function compareValues(
  theirs: UserFormValues,
  mine: UserFormValues,
  t: Labels,
  { names, formatList }: { names: Map<number, string>; formatList: (items: string[]) => string },
) {
  const getName = (id: number | null | undefined) => (id == null ? '' : (names.get(id) ?? `#${id}`));
  const format = (values: UserFormValues) => [
    { field: t.userName, text: values.userName },
    { field: t.nickName, text: values.nickName },
    { field: t.position, text: values.position },
    { field: t.deptId, text: getName(values.deptId) },
    { field: t.deptIds, text: formatList((values.deptIds ?? []).map(getName)) },
    { field: t.phone, text: values.phone },
    { field: t.email, text: values.email },
    { field: t.role, text: t[values.role] },
    { field: t.status, text: values.status === '0' ? t.normal : t.disabled },
  ];
  const mineFormatted = format(mine);
  return format(theirs).flatMap(({ field, text }, index) => {
    const [theirText, myText] = [text || t.none, mineFormatted[index]?.text || t.none];
    return theirText === myText ? [] : [{ field, theirs: theirText, mine: myText }];
  });
}
