import { Alert, Form, InputNumber } from 'antd';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { HIDDEN_QUOTAS, type HiddenQuota, QUOTAS, type ShownQuota } from './values.ts';

export function QuotaFields({ fresh = false }: { fresh?: boolean }) {
  const t = useTexts(fieldTexts);
  return (
    <>
      <p className="quiet">{t.quotasHint}</p>
      <div className="tenants-grid tenants-three">
        {QUOTAS.map((key) => (
          <Quota key={key} name={key} />
        ))}
      </div>
      <HiddenQuotaFields fresh={fresh} />
    </>
  );
}

/** Wherever a tenant is written: a write that says nothing of these empties them, and nobody could see it. */
export function HiddenQuotaFields({ fresh = false }: { fresh?: boolean }) {
  const t = useTexts(fieldTexts);
  return (
    <section aria-label={t.hiddenQuotas}>
      <Alert
        className="gap-below"
        type={fresh ? 'info' : 'warning'}
        title={t.hiddenQuotas}
        description={fresh ? t.hiddenAtCreate : t.hiddenAtEdit}
      />
      <div className="tenants-grid tenants-four">
        {HIDDEN_QUOTAS.map((key) => (
          <Quota key={key} name={key} />
        ))}
      </div>
    </section>
  );
}

function Quota({ name }: { name: ShownQuota | HiddenQuota }) {
  const t = useTexts(fieldTexts);
  return (
    <Form.Item name={['quotas', name]} label={t[name]}>
      <InputNumber className="tenants-wide" min={0} max={2147483647} precision={0} placeholder="0" />
    </Form.Item>
  );
}
