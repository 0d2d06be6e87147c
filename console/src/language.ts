import { keptStore, useStore } from './store.ts';

export type Language = 'zh' | 'en';

const chosen = keptStore<Language>('banyan.language', ['zh', 'en'], () =>
  navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag))?.startsWith('en') ? 'en' : 'zh',
);

export const language = chosen.get;
export const chooseLanguage = chosen.set;
export const followLanguage = chosen.follow;
export const useLanguage = () => useStore(chosen);

// biome-ignore lint/suspicious/noExplicitAny: the arguments of a text are its own affair
type Text = string | ((...facts: any[]) => string);

type Same<T> = {
  [K in keyof T]: T[K] extends (...facts: infer Facts) => string ? (...facts: Facts) => string : string;
};

export interface Texts<T> {
  zh: T;
  en: Same<T>;
}

/** The texts of a screen in both languages; a key that one of them lacks does not compile. */
export const texts = <T extends Record<string, Text>>(both: Texts<T>): Texts<T> => both;

/** The texts in the language of the moment. */
export function useTexts<T>({ zh, en }: Texts<T>): T {
  return useLanguage() === 'zh' ? zh : (en as T);
}

export const textsNow = <T>({ zh, en }: Texts<T>): T => (language() === 'zh' ? zh : (en as T));
