import { defineTexts } from '../language.ts';

export const loginTexts = defineTexts({
  zh: {
    title: '登录',
    welcome: '登录榕树',
    slogan: '统一管理部门、租户与用户',
    tenant: '租户编号',
    tenantRequired: '请输入租户编号，例如 000000',
    user: '用户名',
    userRequired: '请输入用户名',
    password: '密码',
    passwordRequired: '请输入密码',
    logIn: '登录',
    changePassword: '请修改密码',
    changePasswordHint: '当前密码由管理员设置，修改后即可继续使用。',
    logOut: '退出登录',
  },
  en: {
    title: 'Log in',
    welcome: 'Log in to Banyan',
    slogan: 'Departments, tenants and users in one place',
    tenant: 'Tenant code',
    tenantRequired: 'Enter your tenant code, for example 000000',
    user: 'User name',
    userRequired: 'Enter your user name',
    password: 'Password',
    passwordRequired: 'Enter your password',
    logIn: 'Log in',
    changePassword: 'Change your password',
    changePasswordHint: 'An administrator has set your password. Change it to continue.',
    logOut: 'Log out',
  },
});
