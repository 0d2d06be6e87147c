import { useTexts } from '../language.ts';
import { leaveTexts } from '../ui/leave-texts.ts';
import { useConfirmLeave } from '../ui/use-confirm-leave.ts';

interface Options {
  isDirty: () => boolean;
  onDiscard: () => void;
  isSaving: boolean;
}

/** Asks before the user leaves a form with unsaved changes. A reload needs no question: it restores the draft. */
export function useUnsavedChangesGuard({ isDirty, onDiscard, isSaving }: Options): void {
  const t = useTexts(leaveTexts);
  useConfirmLeave({
    shouldBlock: ({ currentLocation, nextLocation }) => isDirty() && currentLocation.pathname !== nextLocation.pathname,
    title: t.discardTitle,
    content: t.discardHint,
    okText: t.discard,
    cancelText: t.keepEditing,
    onLeave: onDiscard,
    isSaving,
  });
}
