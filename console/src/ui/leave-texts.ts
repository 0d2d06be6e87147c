import { defineTexts } from '../language.ts';

/** Texts about input and secrets that are lost when the user leaves. They are not part of uiTexts, which every screen loads. */
export const leaveTexts = defineTexts({
  zh: {
    discardTitle: '放弃已填写的内容？',
    discardHint: '内容尚未保存。',
    discard: '放弃',
    keepEditing: '继续填写',
    leave: '离开',
    stay: '留在此页',
    copy: '复制',
    copied: '已复制',
    close: '关闭',
    shownOnce: '仅显示一次，请妥善保存',
    shownOnceHint: '关闭后将无法再次查看。',
    leaveSecret: '离开后将无法再次查看，确定离开？',
    leaveSecretHint: '此内容仅显示一次，请先复制并妥善保存。',
  },
  en: {
    discardTitle: 'Discard changes?',
    discardHint: 'Your changes have not been saved.',
    discard: 'Discard',
    keepEditing: 'Keep editing',
    leave: 'Leave',
    stay: 'Stay',
    copy: 'Copy',
    copied: 'Copied',
    close: 'Close',
    shownOnce: 'Shown only once. Copy it now and keep it in a safe place.',
    shownOnceHint: 'It cannot be shown again after you close this dialog.',
    leaveSecret: 'This secret cannot be shown again. Leave anyway?',
    leaveSecretHint: 'This is shown only once. Copy it first.',
  },
});
