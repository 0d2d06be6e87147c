import { App } from 'antd';
import { useEffect } from 'react';
import { useBeforeUnload, useBlocker } from 'react-router';
import { useTexts } from '../language.ts';
import { taskTexts } from './texts.ts';

interface Props {
  title: string;
  hint: string;
  /** What is to be done before he goes. */
  leave?: () => void;
}

/** As long as it is there, who goes elsewhere or back, or closes the page, is asked first. The router takes one at a time. */
export function AskBeforeLeaving({ title, hint, leave }: Props) {
  const t = useTexts(taskTexts);
  const { modal } = App.useApp();
  useBeforeUnload((event) => event.preventDefault());
  const blocker = useBlocker(
    ({ currentLocation, nextLocation, historyAction }) =>
      historyAction === 'POP' || currentLocation.pathname !== nextLocation.pathname,
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: asked once for each attempt to leave, which has a blocker of its own
  useEffect(() => {
    if (blocker.state !== 'blocked') return undefined;
    const dialog = modal.confirm({
      title,
      content: hint,
      okText: t.leave,
      cancelText: t.stay,
      okButtonProps: { danger: true },
      onOk: () => {
        leave?.();
        blocker.proceed();
      },
      onCancel: () => blocker.reset(),
    });
    return () => dialog.destroy();
  }, [blocker]);
  return null;
}

/** What is being saved cannot be called back, and a new password is shown with the answer: the way back waits for it. */
export function useStay(busy: boolean): void {
  const blocker = useBlocker(({ historyAction }) => busy && historyAction === 'POP');
  useEffect(() => {
    if (blocker.state === 'blocked') blocker.reset();
  }, [blocker]);
}
