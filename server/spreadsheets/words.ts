import type { Language } from '../http/errors.ts';

/** The words for the values of a field, in both languages. */
export type Words<Value extends string = string> = Readonly<Record<Value, Readonly<Record<Language, string>>>>;

export const STATUS_WORDS: Words<'0' | '1'> = {
  0: { zh: '正常', en: 'Normal' },
  1: { zh: '停用', en: 'Disabled' },
};

export const ROLE_WORDS: Words<'admin' | 'member'> = {
  admin: { zh: '管理员', en: 'Administrator' },
  member: { zh: '成员', en: 'Member' },
};

/** Returns the value for a word of either language, or for the value itself; undefined for any other text. */
export function valueOfWord<Value extends string>(words: Words<Value>, text: string): Value | undefined {
  const wanted = text.trim().toLowerCase();
  return (Object.keys(words) as Value[]).find((value) =>
    [value, words[value].zh, words[value].en].some((each) => each.toLowerCase() === wanted),
  );
}
