import { Form, InputNumber } from 'antd';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { QUOTAS } from './form-values.ts';

export function QuotaFields() {
  const t = useTexts(fieldTexts);
  return (
    <>
      <p className="secondary">{t.quotasHint}</p>
      <div className="tenants-grid tenants-grid-3">
        {QUOTAS.map((key) => (
          <Form.Item key={key} name={['quotas', key]} label={t[key]}>
            <InputNumber className="full-width" min={0} max={2147483647} precision={0} placeholder="0" />
          </Form.Item>
        ))}
      </div>
    </>
  );
}
