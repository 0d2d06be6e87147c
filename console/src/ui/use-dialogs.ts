import { App, type ModalFuncProps } from 'antd';
import { useEffect, useMemo, useRef } from 'react';

/**
 * Confirm and warning dialogs that belong to the component that opened them. When it unmounts, its dialogs close and count as
 * cancelled, and it cannot open new ones.
 */
export function useDialogs() {
  const { modal } = App.useApp();
  const openDialogs = useRef<Set<() => void>>(undefined);
  useEffect(() => {
    const open = new Set<() => void>();
    openDialogs.current = open;
    return () => {
      openDialogs.current = undefined;
      for (const dismiss of open) dismiss();
    };
  }, []);
  return useMemo(() => {
    const show = (kind: 'confirm' | 'warning', props: ModalFuncProps) => {
      const open = openDialogs.current;
      if (!open) {
        props.onCancel?.();
        return { destroy: () => undefined };
      }
      const dismiss = () => {
        dialog.destroy();
        props.onCancel?.();
      };
      const dialog = modal[kind]({
        // Enter must not discard or delete what the user did not mean to.
        ...(props.okButtonProps?.danger ? { focusable: { autoFocusButton: 'cancel' } } : {}),
        ...props,
        afterClose: () => {
          open.delete(dismiss);
          props.afterClose?.();
        },
      });
      open.add(dismiss);
      return dialog;
    };
    return {
      confirm: (props: ModalFuncProps) => show('confirm', props),
      warning: (props: ModalFuncProps) => show('warning', props),
    };
  }, [modal]);
}
