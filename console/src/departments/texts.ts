import { texts } from '../language.ts';

export const departmentsTexts = texts({
  zh: { title: '部门' },
  en: { title: 'Departments' },
});
