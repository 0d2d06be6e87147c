import { defineTexts } from '../language.ts';

export const passwordTexts = defineTexts({
  zh: {
    oldPassword: '旧密码',
    newPassword: '新密码',
    confirmPassword: '确认新密码',
    required: '请填写此项',
    tooShort: '至少 8 个字符',
    passwordMismatch: '两次输入的新密码不一致',
    change: '修改密码',
    changed: '密码已修改，其他设备已退出登录',
  },
  en: {
    oldPassword: 'Old password',
    newPassword: 'New password',
    confirmPassword: 'Confirm new password',
    required: 'This field is required',
    tooShort: 'At least 8 characters',
    passwordMismatch: 'The passwords do not match',
    change: 'Change password',
    changed: 'Password changed. Your other sessions have been ended.',
  },
});
