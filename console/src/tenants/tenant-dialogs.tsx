import { Form } from 'antd';
import { useState } from 'react';
import { api, type ListedTenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { fieldTexts } from './field-texts.ts';
import { type TenantValues, toFormValues } from './form-values.ts';
import { ParentSelect } from './parent-select.tsx';
import { tenantsTexts } from './texts.ts';
import { useSaveTenant } from './use-save-tenant.ts';

interface DialogProps {
  tenant: ListedTenant;
  onClose: () => void;
}

/**
 * Changes some fields of a tenant: reads the current record and replaces it. A running request cannot be cancelled,
 * so the cancel button is disabled; antd keeps the dialog open while it is loading.
 */
function useTenantChange({ tenant, onClose }: DialogProps, successMessage: string) {
  const saveTenant = useSaveTenant();
  return useApiMutation({
    mutationFn: async (change: Partial<TenantValues>) => {
      const { data, etag } = await api.readTenant(tenant.id);
      return saveTenant(tenant.id, etag, { ...toFormValues(data), ...change }, () => undefined);
    },
    invalidates: affectedBy.tenants,
    successMessage: (outcome) => (outcome === 'saved' ? successMessage : undefined),
    onSuccess: (outcome) => {
      if (outcome !== 'cancelled') onClose();
    },
  });
}

export function MoveDialog({ tenant, onClose }: DialogProps) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const [form] = Form.useForm<Pick<TenantValues, 'tenantParent'>>();
  const parent = Form.useWatch('tenantParent', form);
  const [open, setOpen] = useState(true);
  const move = useTenantChange({ tenant, onClose: () => setOpen(false) }, t.moved);
  return (
    <Dialog
      open={open}
      afterClose={onClose}
      onCancel={() => setOpen(false)}
      title={t.moveTitle(tenant.tenantName || tenant.tenantId)}
      okText={t.move}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: move.isPending }}
      confirmLoading={move.isPending}
      okButtonProps={{ disabled: !parent || parent === tenant.tenantParent }}
      onOk={() => form.submit()}
    >
      <p>{t.moveHint}</p>
      <Form
        form={form}
        layout="vertical"
        initialValues={{ tenantParent: tenant.tenantParent }}
        onFinish={(change) => move.mutate(change)}
      >
        <Form.Item name="tenantParent" label={f.tenantParent}>
          <ParentSelect movedId={tenant.id} />
        </Form.Item>
      </Form>
    </Dialog>
  );
}

export function StatusDialog({ tenant, onClose }: DialogProps) {
  const t = useTexts(tenantsTexts);
  const disables = tenant.status === '0';
  const name = tenant.tenantName || tenant.tenantId;
  const [open, setOpen] = useState(true);
  const change = useTenantChange(
    { tenant, onClose: () => setOpen(false) },
    disables ? t.disabledMessage : t.enabledMessage,
  );
  return (
    <Dialog
      open={open}
      afterClose={onClose}
      onCancel={() => setOpen(false)}
      title={disables ? t.disableTitle(name) : t.enableTitle(name)}
      okText={disables ? t.disable : t.enable}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: change.isPending }}
      confirmLoading={change.isPending}
      okButtonProps={{ danger: disables }}
      onOk={() => change.mutate({ status: disables ? '1' : '0' })}
    >
      <p>{disables ? t.disableHint : t.enableHint}</p>
    </Dialog>
  );
}
