import { Button, Form, Input, Segmented } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { RULES, type Rule, type TenantValues } from './values.ts';

export function RuleFields() {
  return (
    <div className="tenants-grid">
      {RULES.map((rule) => (
        <RuleField key={rule} rule={rule} />
      ))}
    </div>
  );
}

/** Free text, or JSON that is checked while it is typed. What looks like JSON is taken for it until somebody says no. */
function RuleField({ rule }: { rule: Rule }) {
  const t = useTexts(fieldTexts);
  const form = Form.useFormInstance<TenantValues>();
  const value: string = Form.useWatch(['rules', rule], form) ?? '';
  const [chosen, setChosen] = useState<'text' | 'json'>();
  const format = chosen ?? (/^\s*[[{]/.test(value) ? 'json' : 'text');
  const fault = format === 'json' && value.trim() ? faultOf(value) : undefined;
  const choose = (next: 'text' | 'json') => {
    setChosen(next);
    // The check is another one now; after the render that made it so.
    setTimeout(() => void form.validateFields([['rules', rule]]).catch(() => undefined));
  };
  const tidy = () => {
    form.setFieldValue(['rules', rule], JSON.stringify(JSON.parse(value), null, 2));
    void form.validateFields([['rules', rule]]);
  };
  return (
    <Form.Item
      name={['rules', rule]}
      label={t[rule]}
      rules={[
        {
          validator: async () => {
            if (fault) throw new Error(t.badJson(fault));
          },
        },
      ]}
      extra={
        <span className="tenants-rule">
          <Segmented
            size="small"
            name={`format-${rule}`}
            aria-label={t.formatOf(t[rule])}
            value={format}
            onChange={choose}
            options={[
              { value: 'text', label: t.text },
              { value: 'json', label: t.json },
            ]}
          />
          {format === 'json' && value.trim() && !fault && (
            <>
              <span className="tenants-good">{t.validJson}</span>
              <Button type="link" size="small" aria-label={t.tidyOf(t[rule])} onClick={tidy}>
                {t.tidy}
              </Button>
            </>
          )}
        </span>
      }
    >
      <Input.TextArea
        maxLength={65_536}
        spellCheck={false}
        className={format === 'json' ? 'tenants-text tenants-code' : 'tenants-text'}
      />
    </Form.Item>
  );
}

function faultOf(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
