import { defineTexts, useTexts } from '../language.ts';
import { changeTexts, getActionLabel } from './change-texts.ts';

const kindTexts = defineTexts({
  zh: {
    everything: '全部变更',
    all: '全部',
    testMessage: '测试消息',
    kind: (resource: string, action: string) => `${resource}：${action}`,
  },
  en: {
    everything: 'All changes',
    all: 'All',
    testMessage: 'Test message',
    kind: (resource: string, action: string) => `${resource}: ${action.toLowerCase()}`,
  },
});

/** Returns a function that describes a kind of webhook messages, such as `department.created`, `user.*` or `*`. */
export function useKindLabel(): (kind: string) => string {
  const t = useTexts(kindTexts);
  const labels = useTexts(changeTexts) as unknown as Record<string, string>;
  return (kind) => {
    if (kind === '*') return t.everything;
    if (kind === 'webhook.test') return t.testMessage;
    const [resource = '', action = ''] = kind.split('.');
    return t.kind(labels[resource] ?? resource, action === '*' ? t.all : getActionLabel(labels, action));
  };
}
