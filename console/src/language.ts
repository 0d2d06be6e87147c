import { createPersistedStore, useStore } from './store.ts';

export type Language = 'zh' | 'en';

const languageStore = createPersistedStore<Language>('banyan.language', ['zh', 'en'], () =>
  navigator.languages.find((tag) => /^(zh|en)\b/i.test(tag))?.startsWith('en') ? 'en' : 'zh',
);

export const getLanguage = languageStore.get;
export const setLanguage = languageStore.set;
export const useLanguage = () => useStore(languageStore);

// biome-ignore lint/suspicious/noExplicitAny: each text declares the types of its own arguments
type Text = string | ((...args: any[]) => string);

type Translation<T> = {
  [K in keyof T]: T[K] extends (...args: infer Args) => string ? (...args: Args) => string : string;
};

export interface Texts<T> {
  zh: T;
  en: Translation<T>;
}

/** Defines the texts of a screen in both languages. A key that is missing in one of them is a compile error. */
export const defineTexts = <T extends Record<string, Text>>(texts: Texts<T>): Texts<T> => texts;

/** Returns the texts in the current language and re-renders when it changes. */
export function useTexts<T>({ zh, en }: Texts<T>): T {
  return useLanguage() === 'zh' ? zh : (en as T);
}

/** The same outside of components. */
export const getTexts = <T>({ zh, en }: Texts<T>): T => (getLanguage() === 'zh' ? zh : (en as T));

const listFormats: Record<Language, Intl.ListFormat> = {
  zh: new Intl.ListFormat('zh-CN', { type: 'conjunction', style: 'narrow' }),
  en: new Intl.ListFormat('en', { type: 'conjunction', style: 'narrow' }),
};

/** Returns a function that joins texts with the punctuation of the current language. */
export function useListFormat(): (items: Iterable<string>) => string {
  const format = listFormats[useLanguage()];
  return (items) => format.format(items);
}
