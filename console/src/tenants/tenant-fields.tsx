import { Checkbox, DatePicker, Form, Input, InputNumber, Radio, Select } from 'antd';
import dayjs, { type Dayjs } from 'dayjs';
import type { KeyboardEvent } from 'react';
import { useTexts } from '../language.ts';
import { usePhoneRule } from '../ui/phone-rule.ts';
import { PasswordInput } from '../ui/user/password-input.tsx';
import { fieldTexts } from './field-texts.ts';
import type { TenantValues } from './form-values.ts';
import { useMenuNames } from './menu-names.ts';
import { ParentSelect } from './parent-select.tsx';

const MAX_MENU_IDS_LENGTH = 65_536;

/** `movedId` is the id of the edited tenant: it cannot be its own parent. */
export function NameFields({ movedId }: { movedId?: string }) {
  const t = useTexts(fieldTexts);
  return (
    <div className="tenants-grid">
      <Form.Item
        name="tenantName"
        label={t.tenantName}
        rules={[{ required: true, whitespace: true, message: t.nameRequired }]}
      >
        <Input maxLength={100} autoComplete="off" />
      </Form.Item>
      <Form.Item name="tenantParent" label={t.tenantParent}>
        <ParentSelect {...(movedId ? { movedId } : {})} />
      </Form.Item>
    </div>
  );
}

export function ContactFields() {
  const t = useTexts(fieldTexts);
  const phoneRule = usePhoneRule();
  return (
    <div className="tenants-grid tenants-grid-3">
      <Form.Item name="companyName" label={t.companyName}>
        <Input maxLength={100} autoComplete="off" />
      </Form.Item>
      <Form.Item name="contactUserName" label={t.contactUserName}>
        <Input maxLength={50} autoComplete="off" />
      </Form.Item>
      <Form.Item name="contactPhone" label={t.contactPhone} rules={[phoneRule]}>
        <Input maxLength={32} type="tel" autoComplete="off" />
      </Form.Item>
    </div>
  );
}

const dateFieldProps = {
  getValueProps: (value?: string | null) => ({ value: value ? dayjs(value) : null }),
  normalize: (value: Dayjs | null) => value?.format('YYYY-MM-DD') ?? null,
};

/** Enter confirms the typed date and must not submit the form. */
const preventSubmit = (event: KeyboardEvent) => {
  if (event.key === 'Enter') event.preventDefault();
};

export function PeriodFields() {
  const t = useTexts(fieldTexts);
  const form = Form.useFormInstance<TenantValues & { wantsAdministrator?: boolean }>();
  const start = Form.useWatch('startTime', form);
  const unlimited = Form.useWatch('unlimited', form);
  const presets = [1, 2, 3].map((years) => ({
    label: t.years(years),
    value: dayjs(start ?? undefined)
      .add(years, 'year')
      .subtract(1, 'day'),
  }));
  return (
    <div className="tenants-grid">
      <Form.Item name="startTime" label={t.startTime} extra={t.startHint} {...dateFieldProps}>
        <DatePicker className="full-width" onKeyDown={preventSubmit} />
      </Form.Item>
      <Form.Item
        name="endTime"
        label={t.endTime}
        extra={t.endHint}
        dependencies={['startTime']}
        {...dateFieldProps}
        rules={[
          ({ getFieldValue }) => ({
            validator: async (_, end?: string | null) => {
              const start: string | null = getFieldValue('startTime');
              if (start && end && end < start) throw new Error(t.endBeforeStart);
            },
          }),
        ]}
      >
        <DatePicker className="full-width" presets={presets} onKeyDown={preventSubmit} />
      </Form.Item>
      <div className="tenants-accounts">
        <Form.Item
          name="accountCount"
          label={t.accountCount}
          dependencies={['unlimited', 'wantsAdministrator']}
          rules={[
            ({ getFieldValue }) => ({
              validator: async (_, count?: number | null) => {
                if (getFieldValue('unlimited')) return;
                if (count == null) throw new Error(t.accountCountRequired);
                if (count === 0 && getFieldValue('wantsAdministrator')) throw new Error(t.accountCountForAdministrator);
              },
            }),
          ]}
        >
          <InputNumber
            className="full-width"
            min={0}
            max={2147483647}
            precision={0}
            disabled={unlimited !== false}
            placeholder={unlimited === false ? '' : t.unlimited}
          />
        </Form.Item>
        <Form.Item name="unlimited" valuePropName="checked" className="tenants-unlimited">
          <Checkbox>{t.unlimited}</Checkbox>
        </Form.Item>
      </div>
      <Form.Item name="status" label={t.status}>
        <Radio.Group
          options={[
            { value: '0', label: t.normal },
            { value: '1', label: t.disabled },
          ]}
        />
      </Form.Item>
    </div>
  );
}

export function PackageFields() {
  const t = useTexts(fieldTexts);
  const options = Object.entries(useMenuNames()).map(([value, name]) => ({ value, label: `${name} ${value}` }));
  return (
    <Form.Item
      name="menuIds"
      label={t.menuIds}
      extra={t.menusHint}
      rules={[
        {
          validator: async (_, ids: string[] = []) => {
            const invalidId = ids.find((id) => !/^\d+$/.test(id));
            if (invalidId) throw new Error(t.invalidMenuId(invalidId));
            if (ids.join(',').length > MAX_MENU_IDS_LENGTH) throw new Error(t.menusTooLong);
          },
        },
      ]}
      normalize={(ids: string[]) => [...new Set(ids.map((id) => id.trim()).filter(Boolean))]}
    >
      <Select
        mode="tags"
        {...(options.length > 0 ? { options, optionFilterProp: 'label' } : { open: false, suffixIcon: null })}
        allowClear
        tokenSeparators={[',', '，', '、', ' ', ';']}
        placeholder={t.menusPlaceholder}
      />
    </Form.Item>
  );
}

export function AdministratorFields({ onGenerate }: { onGenerate: (password: string) => void }) {
  const t = useTexts(fieldTexts);
  const wantsAdministrator = Form.useWatch('wantsAdministrator') !== false;
  return (
    <>
      <Form.Item name="wantsAdministrator" valuePropName="checked">
        <Checkbox>{t.wantsAdministrator}</Checkbox>
      </Form.Item>
      {wantsAdministrator ? (
        <div className="tenants-grid">
          <Form.Item
            name="username"
            label={t.username}
            rules={[{ required: true, whitespace: true, message: t.usernameRequired }]}
          >
            <Input maxLength={50} autoComplete="off" autoCapitalize="none" spellCheck={false} />
          </Form.Item>
          <Form.Item
            name="password"
            label={t.password}
            extra={t.passwordHint}
            rules={[
              { required: true, message: t.passwordRequired },
              { min: 8, message: t.passwordTooShort },
            ]}
          >
            <PasswordInput onGenerate={onGenerate} startsVisible />
          </Form.Item>
        </div>
      ) : (
        <p className="secondary">{t.withoutAdministrator}</p>
      )}
    </>
  );
}
