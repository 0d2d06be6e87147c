import { useTexts } from '../language.ts';
import { useConfirmLeave } from '../ui/use-confirm-leave.ts';
import { tenantsTexts } from './texts.ts';

interface Options {
  isDirty: () => boolean;
  onDiscard: () => void;
  isSaving: boolean;
}

/** Asks before the user leaves a form with unsaved changes. A reload needs no question: it restores the draft. */
export function useUnsavedChangesGuard({ isDirty, onDiscard, isSaving }: Options): void {
  const t = useTexts(tenantsTexts);
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
