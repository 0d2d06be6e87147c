import { texts } from '../language.ts';

export const chartTexts = texts({
  zh: { title: '组织图' },
  en: { title: 'Org chart' },
});
