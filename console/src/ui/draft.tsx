import { Alert, Button, type FormInstance } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useTexts } from '../language.ts';
import { DRAFT_PREFIX, useMe } from '../session.ts';
import { readStorage, writeStorage } from '../store.ts';
import { uiTexts } from './texts.ts';

/**
 * Saves the values of a form in sessionStorage, so that they survive a reload and navigation until the user logs out.
 * `name` identifies the form and the record, such as `dept-100`. Fields whose name contains "password" are never saved.
 */
export function useDraft<T extends object>(name: string, form: FormInstance<T>) {
  const key = useDraftKey(name);
  const [restored, setRestored] = useState(false);
  /** The same, without waiting for a render: a screen that clears the draft may navigate right away. */
  const isRestored = useRef(false);
  const updateRestored = (next: boolean) => {
    isRestored.current = next;
    setRestored(next);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form instance never changes
  useEffect(() => {
    const text = readStorage(key, 'sessionStorage');
    updateRestored(text !== null);
    if (text !== null) form.setFieldsValue(JSON.parse(text));
  }, [key]);
  const clear = () => {
    writeStorage(key, null, 'sessionStorage');
    updateRestored(false);
  };
  const onValuesChange = () =>
    writeStorage(key, JSON.stringify(withoutPasswords(form.getFieldsValue(true))), 'sessionStorage');
  return { restored, isRestored: () => isRestored.current, clear, onValuesChange };
}

const useDraftKey = (name: string) => {
  const { user } = useMe();
  return `${DRAFT_PREFIX}${user.tenantId}.${user.userId}.${name}`;
};

/** Whether there is a draft. If so, the screen opens the form right away. */
export const useHasDraft = (name: string) => readStorage(useDraftKey(name), 'sessionStorage') !== null;

const withoutPasswords = (values: object) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !/password/i.test(name)));

/** Tells the user that a draft was restored and lets them discard it. */
export function DraftNotice({ restored, onDiscard }: { restored: boolean; onDiscard: () => void }) {
  const t = useTexts(uiTexts);
  if (!restored) return null;
  return (
    <Alert
      type="info"
      title={t.draftRestored}
      className="margin-bottom"
      action={
        <Button size="small" onClick={onDiscard}>
          {t.discard}
        </Button>
      }
    />
  );
}
