import { App } from 'antd';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { useTexts } from '../language.ts';
import { tenantsTexts } from './texts.ts';

interface Leaving {
  isDirty: () => boolean;
  discard: () => void;
  /** Being saved: that cannot be called back, so the answer is waited for. */
  busy: boolean;
}

/** Who leaves a half-filled form is asked first. A reload needs no question: the draft is there again. */
export function useLeaving({ isDirty, discard, busy }: Leaving): void {
  const t = useTexts(tenantsTexts);
  const { modal } = App.useApp();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isDirty() && currentLocation.pathname !== nextLocation.pathname,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each attempt to leave, which has a blocker of its own
  useEffect(() => {
    if (blocker.state !== 'blocked') return undefined;
    if (busy) {
      blocker.reset();
      return undefined;
    }
    const dialog = modal.confirm({
      title: t.leave,
      content: t.leaveHint,
      okText: t.leaveYes,
      cancelText: t.leaveNo,
      okButtonProps: { danger: true },
      onOk: () => {
        discard();
        blocker.proceed();
      },
      onCancel: () => blocker.reset(),
    });
    return () => dialog.destroy();
  }, [blocker]);
}
