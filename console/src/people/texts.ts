import { defineTexts } from '../language.ts';

export const peopleTexts = defineTexts({
  zh: {
    title: '人员',
    create: '新建用户',
    search: '搜索用户名、姓名或手机号',
    department: '部门',
    anyDepartment: '全部部门',
    below: '含下级',
    none: '暂无用户',
    noneFound: '没有符合条件的用户',
    clearFilters: '清除筛选',
    otherTenant: (tenant: string) => `您正在管理下级租户“${tenant}”的用户`,
    otherTenantHint: '此处不能分配部门，请由该租户的管理员操作。',
  },
  en: {
    title: 'People',
    create: 'New user',
    search: 'Search by user name, name or phone',
    department: 'Department',
    anyDepartment: 'All departments',
    below: 'Include departments below',
    none: 'No users yet',
    noneFound: 'No users match the filters',
    clearFilters: 'Clear filters',
    otherTenant: (tenant: string) => `You are managing the users of the child tenant ${tenant}`,
    otherTenantHint: 'Departments cannot be assigned here. Ask an administrator of that tenant.',
  },
});
