import { texts } from '../language.ts';

export const loginTexts = texts({
  zh: {
    title: '登录',
    welcome: '登录榕树',
    slogan: '部门、租户与人员，一处管理',
    tenant: '租户编号',
    tenantNeeded: '请输入租户编号，例如 000000',
    user: '用户名',
    userNeeded: '请输入用户名',
    password: '密码',
    passwordNeeded: '请输入密码',
    logIn: '登录',
  },
  en: {
    title: 'Log in',
    welcome: 'Log in to Banyan',
    slogan: 'Departments, tenants and people in one place',
    tenant: 'Tenant code',
    tenantNeeded: 'Enter the code of your tenant, such as 000000',
    user: 'User name',
    userNeeded: 'Enter your user name',
    password: 'Password',
    passwordNeeded: 'Enter your password',
    logIn: 'Log in',
  },
});
