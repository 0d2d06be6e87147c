import type { ReactNode } from 'react';

type StatusTone = 'success' | 'info' | 'warning' | 'error' | 'neutral';

/** A short status label. antd's coloured tags have a contrast below 4.5:1, so this is used instead. */
export function StatusTag({ tone = 'neutral', children }: { tone?: StatusTone; children: ReactNode }) {
  return <span className={`status-tag status-tag-${tone}`}>{children}</span>;
}
