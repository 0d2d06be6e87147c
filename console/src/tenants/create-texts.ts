import { defineTexts } from '../language.ts';

export const createTexts = defineTexts({
  zh: {
    title: '新建租户',
    optional: '可选',
    create: '创建租户',
    cancel: '取消',
    created: '租户已创建',
  },
  en: {
    title: 'New tenant',
    optional: 'Optional',
    create: 'Create tenant',
    cancel: 'Cancel',
    created: 'Tenant created',
  },
});
