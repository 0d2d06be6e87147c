import { Alert, Form, InputNumber } from 'antd';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { QUOTAS, type ReadableQuota, WRITE_ONLY_QUOTAS, type WriteOnlyQuota } from './form-values.ts';

export function QuotaFields({ isNew = false }: { isNew?: boolean }) {
  const t = useTexts(fieldTexts);
  return (
    <>
      <p className="secondary">{t.quotasHint}</p>
      <div className="tenants-grid tenants-grid-3">
        {QUOTAS.map((key) => (
          <QuotaField key={key} name={key} />
        ))}
      </div>
      <WriteOnlyQuotaFields isNew={isNew} />
    </>
  );
}

/**
 * Part of every form that writes a tenant: the service resets these quotas if a request omits them, and never returns
 * them.
 */
export function WriteOnlyQuotaFields({ isNew = false }: { isNew?: boolean }) {
  const t = useTexts(fieldTexts);
  return (
    <section aria-label={t.writeOnlyQuotas}>
      <Alert
        className="margin-bottom"
        type={isNew ? 'info' : 'warning'}
        title={t.writeOnlyQuotas}
        description={isNew ? t.writeOnlyQuotasOnCreate : t.writeOnlyQuotasOnEdit}
      />
      <div className="tenants-grid tenants-grid-align-end">
        {WRITE_ONLY_QUOTAS.map((key) => (
          <QuotaField key={key} name={key} />
        ))}
      </div>
    </section>
  );
}

function QuotaField({ name }: { name: ReadableQuota | WriteOnlyQuota }) {
  const t = useTexts(fieldTexts);
  return (
    <Form.Item name={['quotas', name]} label={t[name]}>
      <InputNumber className="full-width" min={0} max={2147483647} precision={0} placeholder="0" />
    </Form.Item>
  );
}
