import { App } from 'antd';
import { useEffect } from 'react';
import { type BlockerFunction, useBlocker } from 'react-router';

interface Options {
  shouldBlock: BlockerFunction;
  title: string;
  content: string;
  okText: string;
  cancelText: string;
  /** Called before the user leaves. */
  onLeave?: (() => void) | undefined;
  /** Navigation is blocked without a question while saving, because the request cannot be cancelled. */
  isSaving?: boolean;
}

/** Asks before the user navigates away. The router supports one blocker at a time. */
export function useConfirmLeave({ shouldBlock, title, content, okText, cancelText, onLeave, isSaving }: Options): void {
  const { modal } = App.useApp();
  const blocker = useBlocker(shouldBlock);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the blocker object changes with each attempt to leave; ask once per attempt
  useEffect(() => {
    if (blocker.state !== 'blocked') return undefined;
    if (isSaving) {
      blocker.reset();
      return undefined;
    }
    const dialog = modal.confirm({
      title,
      content,
      okText,
      cancelText,
      okButtonProps: { danger: true },
      focusable: { autoFocusButton: 'cancel' },
      onOk: () => {
        onLeave?.();
        blocker.proceed();
      },
      onCancel: () => blocker.reset(),
    });
    return () => dialog.destroy();
  }, [blocker]);
}
