import { defineTexts } from '../language.ts';

export const peopleTexts = defineTexts({
  zh: {
    title: '人员',
    import: '导入',
    create: '新建用户',
    search: '搜索用户名、姓名或手机号',
    department: '部门',
    anyDepartment: '全部部门',
    anyStatus: '全部状态',
    none: '暂无用户',
    noneFound: '没有符合条件的用户',
    clearFilters: '清除筛选',
    otherTenant: (tenant: string) => `您正在管理下级租户“${tenant}”的用户`,
    otherTenantHint: '此处不能分配部门，请由该租户的管理员操作。',
    backToOwnTenant: '返回本租户',
  },
  en: {
    title: 'People',
    import: 'Import',
    create: 'New user',
    search: 'Search by user name, name or phone',
    department: 'Department',
    anyDepartment: 'All departments',
    anyStatus: 'All statuses',
    none: 'No users yet',
    noneFound: 'No users match the filters',
    clearFilters: 'Clear filters',
    otherTenant: (tenant: string) => `You are managing the users of the descendant tenant ${tenant}`,
    otherTenantHint: 'Departments cannot be assigned here. Ask an administrator of that tenant.',
    backToOwnTenant: 'Back to your tenant',
  },
});
