import { texts } from '../language.ts';

export const homeTexts = texts({
  zh: { title: '首页' },
  en: { title: 'Home' },
});
