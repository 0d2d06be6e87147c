import { Button, Form } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { api } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { getFieldErrorText } from '../ui/field-error.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { generatePassword } from '../ui/user/generate-password.ts';
import { createTexts } from './create-texts.ts';
import { rememberPassword } from './created-notice.tsx';
import { getErrorField, getFieldLabel } from './error-field.ts';
import { fieldTexts } from './field-texts.ts';
import { emptyValues, type TenantValues, toInput } from './form-values.ts';
import { OptionalSection } from './optional-section.tsx';
import { QuotaFields } from './quota-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { AdministratorFields, ContactFields, NameFields, PackageFields, PeriodFields } from './tenant-fields.tsx';
import { useUnsavedChangesGuard } from './use-unsaved-changes-guard.ts';

interface NewTenant extends TenantValues {
  wantsAdministrator: boolean;
  username?: string;
  password?: string;
}

/** The sections that are collapsed at first, and the fields in them. */
const OPTIONAL = { contact: /^(company|contact)/, package: /^menuIds/, quotas: /^quotas/, rules: /^rules/ };
type Section = keyof typeof OPTIONAL;
const OPTIONAL_FIELDS = {
  contact: <ContactFields />,
  package: <PackageFields />,
  quotas: <QuotaFields />,
  rules: <RuleFields />,
};

const getSection = (field: string) =>
  (Object.keys(OPTIONAL) as Section[]).find((section) => OPTIONAL[section].test(field));

/** All fields of a new tenant on one page. Optional sections are collapsed; the password of the administrator is generated. */
export function CreateTenant() {
  const t = useTexts(createTexts);
  const f = useTexts(fieldTexts);
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const { tenant: own } = useMe();
  const [search] = useSearchParams();
  const parent = /^\d{6,18}$/.exec(search.get('parent') ?? '')?.[0] ?? own.tenantId;
  const [form] = Form.useForm<NewTenant>();
  const [initialValues] = useState<NewTenant>(() => ({
    ...emptyValues(parent),
    wantsAdministrator: true,
    password: generatePassword(),
  }));
  // The administrator must replace a generated password at the first login. One that the operator typed in may stay.
  const generatedPassword = useRef(initialValues.password);
  const [openSections, setOpenSections] = useState<ReadonlySet<Section>>(new Set());
  const toggle = (section: Section, open: boolean) =>
    setOpenSections(
      (previous) => new Set([...previous].filter((each) => each !== section).concat(open ? section : [])),
    );
  const draft = useDraft(`tenant-new-${parent}`, form);
  const isDirty = useRef(false);
  const discardDraft = () => {
    isDirty.current = false;
    draft.clear();
  };
  // This runs after the effect of PageTitle, which moves the focus to the title of a new screen.
  useEffect(() => form.focusField('tenantName'), [form]);

  /** Expands the section of a field and moves the focus there. */
  const showField = (name: (string | number)[]) => {
    const section = getSection(String(name[0]));
    if (section) toggle(section, true);
    // The fields of a collapsed section cannot take the focus before the next render.
    setTimeout(() => form.scrollToField(name, { focus: true }));
  };
  const create = useApiMutation({
    mutationFn: (values: NewTenant) => {
      const { username = '', password = '' } = values;
      return api.createTenant({
        ...toInput(values),
        ...(values.wantsAdministrator
          ? { username: username.trim(), password, mustChangePassword: password === generatedPassword.current }
          : {}),
      });
    },
    successMessage: t.created,
    invalidates: affectedBy.tenantLists,
    // The form may have been edited since the values were sent.
    onSuccess: (id, { wantsAdministrator, username, password = '' }) => {
      discardDraft();
      const created = { username: wantsAdministrator ? username?.trim() : '' };
      if (wantsAdministrator) rememberPassword(String(id), password);
      if (isMounted()) navigate(`/tenants/${id}`, { replace: true, state: { created } });
    },
    onError: (error) => {
      const name = getErrorField(error);
      if (!name || !(error instanceof ApiError)) return false;
      form.setFields([{ name: name as 'password', errors: [getFieldErrorText(error, getFieldLabel(f, name))] }]);
      showField([name].flat());
      return true;
    },
  });
  useUnsavedChangesGuard({
    isDirty: () => isDirty.current || draft.isRestored(),
    onDiscard: discardDraft,
    isSaving: create.isPending,
  });
  return (
    <Form
      form={form}
      layout="vertical"
      className="stack tenants-form"
      initialValues={initialValues}
      onFinish={() => create.mutate(form.getFieldsValue(true) as NewTenant)}
      onFinishFailed={({ errorFields: [first] }) => first && showField(first.name)}
      onValuesChange={() => {
        isDirty.current = true;
        draft.onValuesChange();
      }}
    >
      <PageTitle title={t.title} />
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          discardDraft();
          form.resetFields();
          generatedPassword.current = initialValues.password;
        }}
      />
      <Card title={f.basic}>
        <NameFields />
      </Card>
      <Card title={f.period}>
        <PeriodFields />
      </Card>
      <Card title={f.administrator}>
        <AdministratorFields
          onGenerate={(password) => {
            generatedPassword.current = password;
          }}
        />
      </Card>
      {(Object.keys(OPTIONAL) as Section[]).map((section) => (
        <OptionalSection
          key={section}
          title={f[section]}
          open={openSections.has(section)}
          onToggle={(open) => toggle(section, open)}
        >
          {OPTIONAL_FIELDS[section]}
        </OptionalSection>
      ))}
      <div className="form-actions tenants-form-footer">
        <Button onClick={() => navigate('/tenants')} disabled={create.isPending}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={create.isPending}>
          {t.create}
        </Button>
      </div>
    </Form>
  );
}
