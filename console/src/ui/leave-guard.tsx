import { useEffect } from 'react';
import { type BlockerFunction, useBeforeUnload, useBlocker } from 'react-router';
import { useTexts } from '../language.ts';
import { leaveTexts } from './leave-texts.ts';
import { useConfirmLeave } from './use-confirm-leave.ts';

interface Props {
  title: string;
  hint: string;
  /** Whether a navigation leaves what is shown; by default, if it goes to another path, back or forward. */
  shouldBlock?: BlockerFunction;
  /** Called before the user leaves. */
  onLeave?: () => void;
}

const isOtherScreen: BlockerFunction = ({ currentLocation, nextLocation, historyAction }) =>
  historyAction === 'POP' || currentLocation.pathname !== nextLocation.pathname;

/** While mounted, asks before the user navigates away or closes the page. */
export function LeaveGuard({ title, hint, shouldBlock = isOtherScreen, onLeave }: Props) {
  const t = useTexts(leaveTexts);
  useBeforeUnload((event) => event.preventDefault());
  useConfirmLeave({
    shouldBlock,
    title,
    content: hint,
    okText: t.leave,
    cancelText: t.stay,
    onLeave,
  });
  return null;
}

/** Blocks Back while saving: the request cannot be cancelled, and a new password or key is shown once it is done. */
export function useBlockBackWhileSaving(isSaving: boolean): void {
  const blocker = useBlocker(({ historyAction }) => isSaving && historyAction === 'POP');
  useEffect(() => {
    if (blocker.state === 'blocked') blocker.reset();
  }, [blocker]);
}
