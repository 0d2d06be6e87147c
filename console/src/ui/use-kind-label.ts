import { useTexts } from '../language.ts';
import { changeTexts } from './change-texts.ts';

/** Returns a function that describes a kind of webhook messages, such as `department.created`, `user.*` or `*`. */
export function useKindLabel(): (kind: string) => string {
  const t = useTexts(changeTexts);
  const labels = t as unknown as Record<string, string>;
  return (kind) => {
    if (kind === '*') return t.allKinds;
    if (kind === 'webhook.test') return t.testMessage;
    const [resource = '', action = ''] = kind.split('.');
    const actionKey = action === '*' ? 'all' : action === 'password_changed' ? 'passwordChanged' : action;
    return t.kind(labels[resource] ?? resource, labels[actionKey] ?? action);
  };
}
