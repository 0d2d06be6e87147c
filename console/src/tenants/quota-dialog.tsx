import { Checkbox, Form, Input, InputNumber, Select } from 'antd';
import { useState } from 'react';
import { api, type Quota, type QuotaPeriod } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { Dialog } from '../ui/dialog.tsx';
import { getFieldErrorText } from '../ui/field-error.ts';
import { ACCOUNTS, isInTenantRecord, useQuotaName } from '../ui/quota-texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { quotaFormTexts } from './quota-form-texts.ts';

interface Values {
  quota: string;
  total: number | null;
  unlimited: boolean;
  period: QuotaPeriod;
  pooled: boolean;
  used: number | null;
}

interface Props {
  tenantId: string;
  /** Undefined for a new quota. */
  original: Quota | undefined;
  existing: string[];
  onClose: () => void;
}

const PERIODS = ['none', 'day', 'month', 'year'] as const;
const FIELDS = ['total', 'period', 'pooled', 'used'] as const;

/** Adds a quota to a tenant below, or changes one. */
export function QuotaDialog({ tenantId, original, existing, onClose }: Props) {
  const t = useTexts(quotaFormTexts);
  const nameOf = useQuotaName();
  const [open, setOpen] = useState(true);
  const [form] = Form.useForm<Values>();
  const isUnlimited = Form.useWatch('unlimited', form) ?? original?.total === -1;
  const name = Form.useWatch('quota', form) ?? original?.quota ?? '';
  const inRecord = isInTenantRecord(name);
  // The service counts the users itself.
  const isUserCount = name === ACCOUNTS;
  const { mutate, isPending } = useApiMutation({
    mutationFn: ({ quota, total, unlimited, period, pooled, used }: Values) =>
      api.putQuota(
        quota,
        {
          total: unlimited ? -1 : total,
          period: quota === ACCOUNTS ? 'none' : period,
          pooled,
          ...(!original && used !== null && quota !== ACCOUNTS ? { used } : {}),
        },
        { tenantId },
      ),
    successMessage: (_, { quota }) => (original ? t.saved : t.added(quota)),
    // The totals of six quotas are in the tenant's record.
    invalidates: affectedBy.tenants,
    onSuccess: () => setOpen(false),
    onError: (error) => {
      const field = error instanceof ApiError && FIELDS.find((each) => each === error.details.field);
      if (!field) return false;
      form.setFields([{ name: field, errors: [getFieldErrorText(error as ApiError, t[field])] }]);
      return true;
    },
  });
  return (
    <Dialog
      open={open}
      title={original ? t.settingsTitle(nameOf(original.quota)) : t.addTitle}
      okText={original ? t.save : t.create}
      cancelText={t.cancel}
      cancelButtonProps={{ disabled: isPending }}
      confirmLoading={isPending}
      onOk={() => form.submit()}
      onCancel={() => !isPending && setOpen(false)}
      afterClose={onClose}
    >
      <Form<Values>
        form={form}
        layout="vertical"
        initialValues={{
          quota: original?.quota ?? '',
          total: original && original.total >= 0 ? original.total : null,
          unlimited: original?.total === -1,
          period: original?.period ?? 'none',
          pooled: original?.pooled ?? false,
          used: null,
        }}
        onFinish={() => mutate(form.getFieldsValue(true))}
      >
        {!original && (
          <Form.Item
            name="quota"
            label={t.name}
            extra={t.nameHint}
            rules={[
              { required: true, message: t.nameRequired },
              { pattern: /^[a-z][A-Za-z0-9]{0,49}$/, message: t.nameInvalid },
              {
                validator: async (_, value: string) => {
                  if (existing.includes(value)) throw new Error(t.nameTaken);
                },
              },
            ]}
          >
            <Input maxLength={50} autoComplete="off" spellCheck={false} />
          </Form.Item>
        )}
        <Form.Item
          name="total"
          label={t.total}
          dependencies={['unlimited']}
          rules={[{ required: !isUnlimited, message: inRecord ? t.totalRequired : t.totalOrNoLimitRequired }]}
        >
          <InputNumber
            className="full-width"
            min={0}
            max={inRecord ? 2_147_483_647 : Number.MAX_SAFE_INTEGER}
            precision={0}
            disabled={isUnlimited}
          />
        </Form.Item>
        {!inRecord && (
          <Form.Item name="unlimited" valuePropName="checked">
            <Checkbox>{t.unlimited}</Checkbox>
          </Form.Item>
        )}
        <Form.Item name="period" label={t.period} extra={t.periodHint} hidden={isUserCount}>
          <Select options={PERIODS.map((value) => ({ value, label: t[value] }))} />
        </Form.Item>
        <Form.Item name="pooled" label={t.pooled} extra={t.pooledHint} valuePropName="checked">
          <Checkbox>{t.pooledLabel}</Checkbox>
        </Form.Item>
        {!original && (
          <Form.Item name="used" label={t.used} extra={t.usedHint} hidden={isUserCount}>
            <InputNumber className="full-width" min={0} max={Number.MAX_SAFE_INTEGER} precision={0} placeholder="0" />
          </Form.Item>
        )}
      </Form>
    </Dialog>
  );
}
