import { Form, Modal } from 'antd';
import { useState } from 'react';
import { api, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { useAction } from '../ui/action.ts';
import { useNotices } from '../ui/notices.ts';
import { fieldTexts } from './field-texts.ts';
import { ParentPicker } from './parent-picker.tsx';
import { HiddenQuotaFields } from './quota-fields.tsx';
import { useSaving } from './saving.ts';
import { tenantsTexts } from './texts.ts';
import { type TenantValues, valuesOf } from './values.ts';

interface Dialog {
  tenant: Tenant;
  close: () => void;
}

/**
 * Each replaces the whole tenant with one thing changed, as it was read when the dialog was confirmed. From then on it
 * cannot be called back: while it is loading antd closes for nobody, and the button says so.
 */
function useQuickChange({ tenant, close }: Dialog, done: string) {
  const save = useSaving();
  const notices = useNotices();
  return useAction({
    run: async (change: Partial<TenantValues>) => {
      const { data, etag } = await api.readTenant(tenant.id);
      const read = valuesOf(data);
      return save(
        tenant.id,
        etag,
        { ...read, ...change, quotas: { ...read.quotas, ...change.quotas } },
        () => undefined,
      );
    },
    changes: [['tenant'], ['tenant-list'], ['tenant-tree'], ['overview']],
    after: (outcome) => {
      if (outcome === 'saved') notices.done(done);
      if (outcome !== 'cancelled') close();
    },
  });
}

export function MoveDialog({ tenant, close }: Dialog) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const [form] = Form.useForm<Pick<TenantValues, 'tenantParent' | 'quotas'>>();
  const parent = Form.useWatch('tenantParent', form);
  const [open, setOpen] = useState(true);
  const move = useQuickChange({ tenant, close: () => setOpen(false) }, t.moved);
  return (
    <Modal
      open={open}
      afterClose={close}
      onCancel={() => setOpen(false)}
      title={t.moveTitle(tenant.tenantName || tenant.tenantId)}
      okText={t.move}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: move.busy }}
      confirmLoading={move.busy}
      okButtonProps={{ disabled: !parent || parent === tenant.tenantParent }}
      onOk={() => form.submit()}
    >
      <p>{t.moveHint}</p>
      <Form
        form={form}
        layout="vertical"
        initialValues={{ tenantParent: tenant.tenantParent }}
        onFinish={(change) => move.start(change)}
      >
        <Form.Item name="tenantParent" label={f.tenantParent}>
          <ParentPicker beneath={tenant.id} />
        </Form.Item>
        <HiddenQuotaFields />
      </Form>
    </Modal>
  );
}

export function StatusDialog({ tenant, close }: Dialog) {
  const t = useTexts(tenantsTexts);
  const [form] = Form.useForm<Pick<TenantValues, 'quotas'>>();
  const off = tenant.status === '0';
  const name = tenant.tenantName || tenant.tenantId;
  const [open, setOpen] = useState(true);
  const change = useQuickChange({ tenant, close: () => setOpen(false) }, off ? t.disabledNow : t.enabledNow);
  return (
    <Modal
      open={open}
      afterClose={close}
      onCancel={() => setOpen(false)}
      title={off ? t.disableAsk(name) : t.enableAsk(name)}
      okText={off ? t.disable : t.enable}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: change.busy }}
      confirmLoading={change.busy}
      okButtonProps={{ danger: off }}
      onOk={() => form.submit()}
    >
      <p>{off ? t.disableHint : t.enableHint}</p>
      <Form form={form} layout="vertical" onFinish={({ quotas }) => change.start({ status: off ? '1' : '0', quotas })}>
        <HiddenQuotaFields />
      </Form>
    </Modal>
  );
}
