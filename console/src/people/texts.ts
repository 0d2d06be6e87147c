import { texts } from '../language.ts';

export const peopleTexts = texts({
  zh: { title: '人员' },
  en: { title: 'People' },
});
