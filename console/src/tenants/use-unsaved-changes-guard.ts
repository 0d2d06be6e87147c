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
    // The form of a new tenant has its parent in the query.
    shouldBlock: ({ currentLocation: { pathname, search }, nextLocation }) =>
      isDirty() && pathname + search !== nextLocation.pathname + nextLocation.search,
    title: t.discardTitle,
    content: t.discardHint,
    okText: t.discard,
    cancelText: t.keepEditing,
    onLeave: onDiscard,
    isSaving,
  });
}
