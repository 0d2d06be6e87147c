import { Alert, Button } from 'antd';
import type { ReactNode } from 'react';
import { useTexts } from '../language.ts';
import { NewSecret } from '../ui/new-secret.tsx';
import { keyFormTexts } from './texts.ts';

interface Props {
  /** Null if the response with the key was lost: the service does not repeat it. */
  value: string | null;
  children?: ReactNode;
  onClose: () => void;
}

/** A new key, shown once, and how to send it. */
export function NewKey({ value, children, onClose }: Props) {
  const t = useTexts(keyFormTexts);
  if (value === null)
    return (
      <>
        <Alert type="error" showIcon title={t.lostTitle} description={t.lostHint} className="margin-bottom" />
        <div className="form-actions">
          <Button type="primary" autoFocus onClick={onClose}>
            {t.close}
          </Button>
        </div>
      </>
    );
  return (
    <NewSecret label={t.key} value={value} onClose={onClose}>
      {children}
      <p className="secondary keys-usage">
        {t.keyHint} <code>Authorization: Bearer byk_…</code>
      </p>
    </NewSecret>
  );
}
