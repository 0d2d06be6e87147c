import { defineTexts } from '../language.ts';

export const restoreTexts = defineTexts({
  zh: {
    title: (name: string) => `恢复“${name}”`,
    restore: '恢复',
    cancel: '取消',
    parentDeleted: '原上级部门已被删除。',
    parentDisabled: '原上级部门已停用。',
    restoreParent: '请先恢复该部门，或选择其他上级部门。',
    enableParent: '请先启用该部门，或选择其他上级部门。',
    parent: '新的上级部门',
    disabled: '该部门已停用',
    toTopLevel: '恢复到顶级（无上级部门）',
    onlyTopLevel: '下级租户的部门在此处只能恢复到顶级，之后可由该租户的管理员移动。',
  },
  en: {
    title: (name: string) => `Restore “${name}”`,
    restore: 'Restore',
    cancel: 'Cancel',
    parentDeleted: 'The former parent department has been deleted.',
    parentDisabled: 'The former parent department is disabled.',
    restoreParent: 'Restore it first, or select another parent.',
    enableParent: 'Enable it first, or select another parent.',
    parent: 'New parent',
    disabled: 'This department is disabled',
    toTopLevel: 'Restore to the top level (no parent)',
    onlyTopLevel:
      'A department of a child tenant can only be restored to the top level here. An administrator of that tenant can move it afterwards.',
  },
});
