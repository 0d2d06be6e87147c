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
  seats: number | null;
  unlimited: boolean;
}

/** Changes how many users a tenant may have. */
export default function SeatsDialog({ tenant, onClose }: TenantDialogProps) {
  const t = useTexts(tenantTexts);
  const name = tenant.tenantName || tenant.tenantId;
  const [open, setOpen] = useState(true);
  const [form] = Form.useForm<Values>();
  const format = (count: number) => (count === -1 ? t.unlimited : String(count));
  const { original, error, refetch, save, isPending } = usePatchTenant({
    id: tenant.id,
    field: 'accountCount',
    label: t.seats,
    format,
    successMessage: (count) => t.seatsAdjusted(name, format(count)),
    onClose: () => setOpen(false),
  });
  return (
    <Dialog
      open={open}
      width={440}
      title={t.seatsTitle(name)}
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
        <SeatsForm key={original.accountCount} form={form} tenant={original} onSave={save} />
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

function SeatsForm({ form, tenant: { tenantId, accountCount }, onSave }: FormProps) {
  const t = useTexts(tenantTexts);
  const filter = { tenantId, fields: 'summary' } as const;
  const { data } = useQuery({
    queryKey: queryKeys.tenants.list(filter),
    queryFn: ({ signal }) => api.listTenants(filter, signal),
    staleTime: 0,
  });
  const used = data?.data.rows[0]?.users;
  const isUnlimited = Form.useWatch('unlimited', form) ?? accountCount === -1;
  const seats = Form.useWatch('seats', form);
  const isBelowUsed = !isUnlimited && used !== undefined && seats != null && seats < used;
  return (
    <Form<Values>
      form={form}
      layout="vertical"
      initialValues={{ seats: accountCount === -1 ? null : accountCount, unlimited: accountCount === -1 }}
      onFinish={({ seats, unlimited }) => onSave(unlimited ? -1 : (seats as number))}
    >
      <FocusFirstField />
      <Form.Item
        name="seats"
        label={t.seats}
        dependencies={['unlimited']}
        extra={
          used !== undefined && (
            <>
              {t.seatsUsed(used)}
              {isBelowUsed && <span className="usage-warning"> {t.seatsBelowUsed}</span>}
            </>
          )
        }
        rules={[{ required: !isUnlimited, message: t.seatsRequired }]}
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
