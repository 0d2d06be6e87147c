import { useTexts } from '../language.ts';
import { leaveTexts } from './leave-texts.ts';
import { useDialogs } from './use-dialogs.ts';

export function useConfirmDiscard(): (onDiscard: () => void) => void {
  const t = useTexts(leaveTexts);
  const dialogs = useDialogs();
  return (onDiscard) =>
    void dialogs.confirm({
      title: t.discardTitle,
      content: t.discardHint,
      okText: t.discard,
      okButtonProps: { danger: true },
      cancelText: t.keepEditing,
      onOk: onDiscard,
    });
}
