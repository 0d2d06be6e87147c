import { Button, type ButtonProps } from 'antd';
import { type ComponentType, Suspense, useRef, useState } from 'react';
import { useTexts } from '../language.ts';
import { lazyComponent } from '../lazy-component.ts';
import type { TenantDialogProps } from './renew-dialog.tsx';
import { tenantTexts } from './tenant-texts.ts';

// Loaded when first opened, because a date picker would make the first page load much larger.
export const RenewDialog = lazyComponent(() => import('./renew-dialog.tsx'));
export const UserLimitDialog = lazyComponent(() => import('./user-limit-dialog.tsx'));

interface Props {
  tenant: TenantDialogProps['tenant'];
  type?: ButtonProps['type'];
}

export function RenewButton(props: Props) {
  const t = useTexts(tenantTexts);
  return <DialogButton {...props} text={t.renew} label={t.renewOf} dialog={RenewDialog} />;
}

export function UserLimitButton(props: Props) {
  const t = useTexts(tenantTexts);
  return <DialogButton {...props} text={t.changeUserLimit} label={t.changeUserLimitOf} dialog={UserLimitDialog} />;
}

interface DialogButtonProps extends Props {
  text: string;
  label: (name: string) => string;
  dialog: ComponentType<TenantDialogProps>;
}

function DialogButton({ tenant, type = 'default', text, label, dialog: DialogOfButton }: DialogButtonProps) {
  const [isOpen, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  return (
    <>
      <Button
        ref={button}
        size="small"
        type={type}
        aria-label={label(tenant.tenantName || tenant.tenantId)}
        onClick={() => setOpen(true)}
      >
        {text}
      </Button>
      {isOpen && (
        <Suspense>
          <DialogOfButton tenant={tenant} onClose={close} />
        </Suspense>
      )}
    </>
  );
}
