import { Button, Form, Input, Segmented } from 'antd';
import { useState } from 'react';
import { useTexts } from '../language.ts';
import { fieldTexts } from './field-texts.ts';
import { RULES, type Rule, type TenantValues } from './form-values.ts';
import { formatJson } from './format-json.ts';

export function RuleFields() {
  return (
    <div className="tenants-grid">
      {RULES.map((rule) => (
        <RuleField key={rule} rule={rule} />
      ))}
    </div>
  );
}

/** Free text or JSON, which is validated while typing. The format is detected until the user selects one. */
function RuleField({ rule }: { rule: Rule }) {
  const t = useTexts(fieldTexts);
  const form = Form.useFormInstance<TenantValues>();
  const value: string = Form.useWatch(['rules', rule], form) ?? '';
  const [selectedFormat, setSelectedFormat] = useState<'text' | 'json'>();
  const format = selectedFormat ?? (/^\s*[[{]/.test(value) ? 'json' : 'text');
  const jsonError = format === 'json' && value.trim() ? getJsonError(value) : undefined;
  const selectFormat = (next: 'text' | 'json') => {
    setSelectedFormat(next);
    // Validate after the next render, which uses the rule of the new format.
    setTimeout(() => void form.validateFields([['rules', rule]]).catch(() => undefined));
  };
  const formatValue = () => {
    form.setFieldValue(['rules', rule], formatJson(value));
    void form.validateFields([['rules', rule]]);
  };
  return (
    <Form.Item
      name={['rules', rule]}
      label={t[rule]}
      rules={[
        {
          validator: async () => {
            if (jsonError) throw new Error(t.invalidJson(jsonError));
          },
        },
      ]}
      extra={
        <span className="tenants-rule-format">
          <Segmented
            size="small"
            name={`format-${rule}`}
            aria-label={t.formatOf(t[rule])}
            value={format}
            onChange={selectFormat}
            options={[
              { value: 'text', label: t.text },
              { value: 'json', label: t.json },
            ]}
          />
          {format === 'json' && value.trim() && !jsonError && (
            <>
              <span className="tenants-valid">{t.validJson}</span>
              <Button type="link" size="small" aria-label={t.formatJsonOf(t[rule])} onClick={formatValue}>
                {t.formatJson}
              </Button>
            </>
          )}
        </span>
      }
    >
      <Input.TextArea
        maxLength={65_536}
        spellCheck={false}
        className={format === 'json' ? 'tenants-rule-text tenants-rule-json' : 'tenants-rule-text'}
      />
    </Form.Item>
  );
}

function getJsonError(text: string): string | undefined {
  try {
    JSON.parse(text);
    return undefined;
  } catch (error) {
    return (error as Error).message;
  }
}
