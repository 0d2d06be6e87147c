import { App, type ModalFuncProps } from 'antd';
import { useEffect, useMemo, useRef } from 'react';

/**
 * Questions that a call opens. They belong to the part of the screen that asked: when it goes, by the way back or with the
 * session, its questions go too and count as cancelled, and later it asks nothing more.
 */
export function useDialogs() {
  const { modal } = App.useApp();
  const asked = useRef<Set<() => void>>(undefined);
  useEffect(() => {
    const open = new Set<() => void>();
    asked.current = open;
    return () => {
      asked.current = undefined;
      for (const withdraw of open) withdraw();
    };
  }, []);
  return useMemo(() => {
    const show = (kind: 'confirm' | 'warning', question: ModalFuncProps) => {
      const open = asked.current;
      if (!open) {
        question.onCancel?.();
        return { destroy: () => undefined };
      }
      const withdraw = () => {
        dialog.destroy();
        question.onCancel?.();
      };
      const dialog = modal[kind]({
        ...question,
        afterClose: () => {
          open.delete(withdraw);
          question.afterClose?.();
        },
      });
      open.add(withdraw);
      return dialog;
    };
    return {
      confirm: (question: ModalFuncProps) => show('confirm', question),
      warning: (question: ModalFuncProps) => show('warning', question),
    };
  }, [modal]);
}
