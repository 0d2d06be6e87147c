import { texts } from '../language.ts';

export const tenantsTexts = texts({
  zh: { title: '租户' },
  en: { title: 'Tenants' },
});
