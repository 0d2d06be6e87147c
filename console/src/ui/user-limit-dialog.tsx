import { useQuery } from '@tanstack/react-query';
import { Checkbox, Form, InputNumber } from 'antd';
import { useState } from 'react';
import { api, type Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { queryKeys } from '../query-keys.ts';
import { Dialog, FocusFirstField } from './dialog.tsx';
import type { TenantDialogProps } from './renew-dialog.tsx';
import { LoadError, Loading } from './states.tsx';
import { tenantTexts } from './tenant-texts.ts';
import { usePatchTenant } from './use-patch-tenant.ts';

interface Values {
  limit: number | null;
  unlimited: boolean;
}

const toFormValues = ({ accountCount }: Tenant): Values => ({
  limit: accountCount === -1 ? null : accountCount,
  unlimited: accountCount === -1,
});

export default function UserLimitDialog({ tenant, onClose }: TenantDialogProps) {
  const t = useTexts(tenantTexts);
  const name = tenant.tenantName || tenant.tenantId;
  const [open, setOpen] = useState(true);
  const [form] = Form.useForm<Values>();
  const format = (count: number) => (count === -1 ? t.unlimited : String(count));
  const { original, error, refetch, save, isPending } = usePatchTenant({
    id: tenant.id,
    field: 'accountCount',
    label: t.userLimit,
    format,
    successMessage: (count) => t.userLimitChanged(name, format(count)),
    showTheirs: (theirs) => form.setFieldsValue(toFormValues(theirs)),
    onClose: () => setOpen(false),
  });
  return (
    <Dialog
      open={open}
      width={440}
      title={t.userLimitTitle(name)}
      okText={t.save}
      cancelText={t.cancel}
      okButtonProps={{ disabled: !original }}
      cancelButtonProps={{ disabled: isPending }}
      confirmLoading={isPending}
      onOk={() => form.submit()}
      onCancel={() => !isPending && setOpen(false)}
      afterClose={onClose}
    >
      {original ? (
        <UserLimitForm form={form} tenant={original} onSave={save} />
      ) : error ? (
        <LoadError error={error} onRetry={refetch} />
      ) : (
        <Loading />
      )}
    </Dialog>
  );
}

interface FormProps {
  form: ReturnType<typeof Form.useForm<Values>>[0];
  tenant: Tenant;
  onSave: (accountCount: number) => void;
}

function UserLimitForm({ form, tenant, onSave }: FormProps) {
  const t = useTexts(tenantTexts);
  const filter = { tenantId: tenant.tenantId, fields: 'summary' } as const;
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
    staleTime: 0,
  });
  const used = data?.data.rows[0]?.users;
  const isUnlimited = Form.useWatch('unlimited', form) ?? tenant.accountCount === -1;
  const limit = Form.useWatch('limit', form);
  const isBelowUsed = !isUnlimited && used !== undefined && limit != null && limit < used;
  return (
    <Form<Values>
      form={form}
      layout="vertical"
      initialValues={toFormValues(tenant)}
      onFinish={({ limit, unlimited }) => onSave(unlimited ? -1 : (limit as number))}
    >
      <FocusFirstField />
      <Form.Item
        name="limit"
        label={t.userLimit}
        dependencies={['unlimited']}
        extra={
          used !== undefined && (
            <>
              {t.userLimitUsed(used)}
              {isBelowUsed && <span className="usage-warning"> {t.userLimitBelowUsed}</span>}
            </>
          )
        }
        rules={[{ required: !isUnlimited, message: t.userLimitRequired }]}
      >
        <InputNumber
          className="full-width"
          min={0}
          max={2_147_483_647}
          precision={0}
          disabled={isUnlimited}
          placeholder={isUnlimited ? t.unlimited : ''}
        />
      </Form.Item>
      <Form.Item name="unlimited" valuePropName="checked">
        <Checkbox>{t.unlimited}</Checkbox>
      </Form.Item>
    </Form>
  );
}
