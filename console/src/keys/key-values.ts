import dayjs, { type Dayjs } from 'dayjs';
import type { Key, KeyInput } from '../api.ts';
import type { Versioned } from '../request.ts';
import type { Permission } from '../ui/permission-texts.ts';

export interface KeyValues {
  keyName: string;
  permissions: Permission[];
  below: boolean;
  /** YYYY-MM-DD HH:mm:ss, as the service has it. */
  expiresTime?: string | null;
  addresses?: string[];
  requestsPerMinute?: number | null;
  status: '0' | '1';
  /** The version that the form was filled with. It has no input field. */
  etag?: string;
}

export const NEW_KEY: KeyValues = { keyName: '', permissions: [], below: false, status: '0' };

export const toFormValues = ({ data, etag }: Versioned<Key>): KeyValues => ({
  keyName: data.keyName,
  permissions: data.permissions as Permission[],
  below: data.below,
  expiresTime: data.expiresTime,
  addresses: data.addresses ?? [],
  requestsPerMinute: data.requestsPerMinute,
  status: data.status,
  etag,
});

/** Returns the fields that can be set both when a key is created and when it is updated. */
export const toInput = (values: KeyValues): Omit<KeyInput, 'below'> => ({
  keyName: values.keyName.trim(),
  permissions: values.permissions,
  expiresTime: values.expiresTime || null,
  addresses: values.addresses?.length ? values.addresses : null,
  requestsPerMinute: values.requestsPerMinute ?? null,
});

type Labels = Record<
  | 'keyName'
  | 'permissions'
  | 'expiresTime'
  | 'addresses'
  | 'requestsPerMinute'
  | 'status'
  | 'normal'
  | 'disabled'
  | 'none',
  string
>;

/** The fields that differ, with labels and display values. */
export function compareValues(
  theirs: KeyValues,
  mine: KeyValues,
  t: Labels,
  { permissionNames, formatList }: { permissionNames: Record<string, string>; formatList: (items: string[]) => string },
) {
  const format = (values: KeyValues) => [
    { field: t.keyName, text: values.keyName },
    { field: t.permissions, text: formatList(values.permissions.map((each) => permissionNames[each] ?? each)) },
    { field: t.expiresTime, text: values.expiresTime },
    { field: t.addresses, text: formatList(values.addresses ?? []) },
    { field: t.requestsPerMinute, text: values.requestsPerMinute ? String(values.requestsPerMinute) : '' },
    { field: t.status, text: values.status === '0' ? t.normal : t.disabled },
  ];
  const mineFormatted = format(mine);
  return format(theirs).flatMap(({ field, text }, index) => {
    const [theirText, myText] = [text || t.none, mineFormatted[index]?.text || t.none];
    return theirText === myText ? [] : [{ field, theirs: theirText, mine: myText }];
  });
}

const TIME_FORMAT = 'YYYY-MM-DD HH:mm:ss';
export const formatTime = (time: Dayjs) => time.format(TIME_FORMAT);

/** A key that expires within this many days is marked. */
const EXPIRING_DAYS = 14;

type KeyState = 'normal' | 'expiring' | 'expired' | 'disabled';

/** Times of the service have no offset. They are read in the browser's time zone, so the state can be off by the difference. */
export function getKeyState({ status, expiresTime }: Pick<Key, 'status' | 'expiresTime'>, now = dayjs()): KeyState {
  if (expiresTime && expiresTime <= formatTime(now)) return 'expired';
  if (status === '1') return 'disabled';
  return expiresTime && daysLeft(expiresTime, now) <= EXPIRING_DAYS ? 'expiring' : 'normal';
}

/** Full days until a time; 0 if it is less than a day away. */
export const daysLeft = (time: string, now = dayjs()) => dayjs(time).diff(now, 'day');

const IPV4 = /^(\d{1,3}\.){3}\d{1,3}(\/\d{1,2})?$/;
const IPV6 = /^[0-9a-f:.]*:[0-9a-f:.]*(\/\d{1,3})?$/i;

/** Whether a text looks like an address or a network. The service checks it in full. */
export const isNetwork = (text: string) => IPV4.test(text) || IPV6.test(text);
