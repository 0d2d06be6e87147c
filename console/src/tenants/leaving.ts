import { App } from 'antd';
import { useEffect } from 'react';
import { useBlocker } from 'react-router';
import { useTexts } from '../language.ts';
import { tenantsTexts } from './texts.ts';

/** Who leaves a half-filled form is asked first. A reload needs no question: the draft is there again. */
export function useLeaving(isDirty: () => boolean, discard: () => void): void {
  const t = useTexts(tenantsTexts);
  const { modal } = App.useApp();
  const blocker = useBlocker(
    ({ currentLocation, nextLocation }) => isDirty() && currentLocation.pathname !== nextLocation.pathname,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each attempt to leave
  useEffect(() => {
    if (blocker.state !== 'blocked') return undefined;
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
  }, [blocker.state]);
}
