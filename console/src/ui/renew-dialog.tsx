import { DatePicker, Form, Radio } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import { useState } from 'react';
import type { Tenant } from '../api.ts';
import { useTexts } from '../language.ts';
import { Dialog, FocusFirstField } from './dialog.tsx';
import { LoadError, Loading } from './states.tsx';
import { getRenewedEnd, today } from './tenant-period.ts';
import { tenantTexts } from './tenant-texts.ts';
import { usePatchTenant } from './use-patch-tenant.ts';

export interface TenantDialogProps {
  tenant: { id: string; tenantId: string; tenantName: string | null };
  /** Called when the dialog has closed. */
  onClose: () => void;
}

interface Values {
  by: 'month' | 'year' | 'date';
  date: string | null;
}

/** The dates until which a tenant can be renewed with one click. A tenant without an end date has none. */
const getQuickEnds = ({ endTime }: Tenant) =>
  endTime && { month: getRenewedEnd(endTime, 1), year: getRenewedEnd(endTime, 12) };

function toFormValues(tenant: Tenant): Values {
  const ends = getQuickEnds(tenant);
  return ends ? { by: 'year', date: ends.year } : { by: 'date', date: null };
}

/** Renews a tenant by a month, by a year, or until a date. */
export default function RenewDialog({ tenant, onClose }: TenantDialogProps) {
  const t = useTexts(tenantTexts);
  const name = tenant.tenantName || tenant.tenantId;
  const [open, setOpen] = useState(true);
  const [form] = Form.useForm<Values>();
  const { original, error, refetch, save, isPending } = usePatchTenant({
    id: tenant.id,
    field: 'endTime',
    label: t.endTime,
    format: (date) => date ?? t.noEndDate,
    successMessage: (date) => t.renewed(name, date ?? t.noEndDate),
    showTheirs: (theirs) => form.setFieldsValue(toFormValues(theirs)),
    onClose: () => setOpen(false),
  });
  return (
    <Dialog
      open={open}
      width={440}
      title={t.renewTitle(name)}
      okText={t.renew}
      cancelText={t.cancel}
      okButtonProps={{ disabled: !original }}
      cancelButtonProps={{ disabled: isPending }}
      confirmLoading={isPending}
      onOk={() => form.submit()}
      onCancel={() => !isPending && setOpen(false)}
      afterClose={onClose}
    >
      {original ? (
        <RenewForm form={form} tenant={original} onSave={save} />
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
  onSave: (date: string) => void;
}

function RenewForm({ form, tenant, onSave }: FormProps) {
  const t = useTexts(tenantTexts);
  const by = Form.useWatch('by', form);
  const { startTime, endTime } = tenant;
  const ends = getQuickEnds(tenant);
  const quick = ends
    ? [
        { value: 'month', label: t.oneMonth(ends.month) },
        { value: 'year', label: t.oneYear(ends.year) },
      ]
    : [];
  return (
    <Form<Values>
      form={form}
      layout="vertical"
      initialValues={toFormValues(tenant)}
      onFinish={({ by, date }) => onSave(ends && by !== 'date' ? ends[by] : (date as string))}
    >
      <FocusFirstField />
      <p>
        {endTime ? t.currentEnd(endTime) : t.endlessHint}
        {endTime && endTime < today() && <span className="secondary"> {t.endedHint}</span>}
      </p>
      {ends && (
        <Form.Item name="by" label={t.renewBy}>
          <Radio.Group className="renew-options" options={[...quick, { value: 'date', label: t.customDate }]} />
        </Form.Item>
      )}
      {(!ends || by === 'date') && (
        <Form.Item
          name="date"
          label={t.endTime}
          getValueProps={(value?: string | null) => ({ value: value ? dayjs(value) : null })}
          normalize={(value: Dayjs | null) => value?.format('YYYY-MM-DD') ?? null}
          rules={[
            { required: true, message: t.endRequired },
            {
              validator: async (_, date?: string | null) => {
                if (date && startTime && date < startTime) throw new Error(t.endBeforeStart);
              },
            },
          ]}
        >
          <DatePicker className="full-width" minDate={dayjs(today())} />
        </Form.Item>
      )}
    </Form>
  );
}
