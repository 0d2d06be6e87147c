import { Modal, type ModalProps } from 'antd';
import { useEffect, useRef } from 'react';

/**
 * A dialog that opens with the focus where the user continues: on its first field, or without fields on its main button. If
 * that button is dangerous, the first button, which cancels, has the focus instead. antd would focus the × in the corner.
 */
export function Dialog({ children, afterOpenChange, ...props }: ModalProps) {
  const content = useRef<HTMLSpanElement>(null);
  return (
    <Modal
      {...props}
      afterOpenChange={(open) => {
        if (open) focusContent(content.current?.closest('[role="dialog"]'));
        afterOpenChange?.(open);
      }}
    >
      <span ref={content} hidden />
      {children}
    </Modal>
  );
}

/** Moves the focus once this is shown, for content that a dialog loads after it has opened. */
export function FocusFirstField() {
  const mark = useRef<HTMLSpanElement>(null);
  useEffect(() => focusContent(mark.current?.closest('[role="dialog"]')), []);
  return <span ref={mark} hidden />;
}

const TARGETS = [
  '.ant-modal-body :is(input, textarea):not([type="hidden"], :disabled)',
  '.ant-btn-primary:not(.ant-btn-dangerous, :disabled)',
  '.ant-btn:not(:disabled)',
];

function focusContent(dialog: Element | null | undefined): void {
  // A field with autoFocus has it already.
  if (dialog?.querySelector('.ant-modal-body')?.contains(document.activeElement)) return;
  const target = TARGETS.map((selector) => dialog?.querySelector<HTMLElement>(selector)).find((found) => found);
  target?.focus();
}
