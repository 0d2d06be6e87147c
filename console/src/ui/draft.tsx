import { Alert, Button, type FormInstance } from 'antd';
import { useEffect, useState } from 'react';
import { useTexts } from '../language.ts';
import { DRAFTS, useMe } from '../session.ts';
import { keep, read } from '../store.ts';
import { uiTexts } from './texts.ts';

/**
 * What is typed into a form outlives a reload and the way to another screen, in this tab only and until a logout. `name`
 * says which form of which record, such as `dept-100`. Passwords are never kept: any field whose name holds "password" is
 * left out.
 */
export function useDraft<T extends object>(name: string, form: FormInstance<T>) {
  const key = useDraftKey(name);
  const [restored, setRestored] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form of another render is the same form
  useEffect(() => {
    const text = read(key, sessionStorage);
    setRestored(text !== null);
    if (text !== null) form.setFieldsValue(JSON.parse(text));
  }, [key]);
  const clear = () => {
    keep(key, null, sessionStorage);
    setRestored(false);
  };
  const onValuesChange = () => keep(key, JSON.stringify(withoutPasswords(form.getFieldsValue(true))), sessionStorage);
  return { restored, clear, onValuesChange };
}

const useDraftKey = (name: string) => {
  const { user } = useMe();
  return `${DRAFTS}${user.tenantId}.${user.userId}.${name}`;
};

/** Whether something was typed that is not saved: then the form is shown at once. */
export const useHasDraft = (name: string) => read(useDraftKey(name), sessionStorage) !== null;

const withoutPasswords = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/password/i.test(name)));

/** Says that a draft was put back, and offers to let it go. */
export function DraftNotice({ restored, discard }: { restored: boolean; discard: () => void }) {
  const t = useTexts(uiTexts);
  if (!restored) return null;
  return (
    <Alert
      type="info"
      title={t.draft}
      className="gap-below"
      action={
        <Button size="small" onClick={discard}>
          {t.discard}
        </Button>
      }
    />
  );
}
