import { CopyOutlined } from '@ant-design/icons';
import { Alert, Button } from 'antd';
import type { ReactNode } from 'react';
import { useTexts } from '../language.ts';
import { LeaveGuard } from './leave-guard.tsx';
import { leaveTexts } from './leave-texts.ts';
import { useCopy } from './use-copy.ts';

interface Props {
  label: string;
  value: string;
  /** What to do with it. */
  children?: ReactNode;
  onClose: () => void;
}

/** A key or secret that cannot be read again. Its dialog must not close on Escape. */
export function NewSecret({ label, value, children, onClose }: Props) {
  const t = useTexts(leaveTexts);
  const copy = useCopy();
  return (
    <>
      <LeaveGuard title={t.leaveSecret} hint={t.leaveSecretHint} />
      <Alert type="warning" showIcon title={t.shownOnce} description={t.shownOnceHint} className="new-secret-notice" />
      <div className="new-secret">
        <span className="secondary">{label}</span>
        <code>{value}</code>
        <Button icon={<CopyOutlined />} autoFocus onClick={() => copy(value, t.copied)}>
          {t.copy}
        </Button>
      </div>
      {children}
      <div className="form-actions">
        <Button type="primary" onClick={onClose}>
          {t.close}
        </Button>
      </div>
    </>
  );
}
