import { useQuery } from '@tanstack/react-query';
import { Button, Form } from 'antd';
import { useRef } from 'react';
import { Navigate, useNavigate, useParams } from 'react-router';
import { api, type Tenant } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import type { Versioned } from '../request.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { getFieldErrorText } from '../ui/field-error.ts';
import { formQuery } from '../ui/form-query.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { isSameInput } from '../ui/record-diff.ts';
import { LoadError, Loading } from '../ui/states.tsx';
import { uiTexts } from '../ui/texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useFormBase } from '../ui/use-form-base.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { useNotify } from '../ui/use-notify.ts';
import { getErrorField, getFieldLabel } from './error-field.ts';
import { fieldTexts } from './field-texts.ts';
import { type TenantValues, toInput, toFormValues as toTenantValues } from './form-values.ts';
import { QuotaFields } from './quota-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { ContactFields, NameFields, PackageFields, PeriodFields } from './tenant-fields.tsx';
import { tenantsTexts } from './texts.ts';
import { useSaveTenant } from './use-save-tenant.ts';
import { useUnsavedChangesGuard } from './use-unsaved-changes-guard.ts';

export function EditTenant() {
  const t = useTexts(tenantsTexts);
  const { id = '' } = useParams();
  const isOwn = useMe().tenant.id === id;
  const { data, error, refetch } = useQuery({
    queryKey: queryKeys.tenants.editForm(id),
    queryFn: ({ signal }) => api.readTenant(id, signal),
    enabled: !isOwn,
    ...formQuery,
  });
  if (isOwn) return <Navigate to={`/tenants/${id}`} replace />;
  if (data) return <EditForm key={id} original={data} />;
  return (
    <>
      <PageTitle title={t.edit} />
      {error ? <LoadError error={error} onRetry={refetch} /> : <Loading />}
    </>
  );
}

/** The ETag is a value of the form: a restored draft is saved against the version that it is based on. */
type FormValues = TenantValues & { etag: string };

const toFormValues = ({ data, etag }: Versioned<Tenant>): FormValues => ({ ...toTenantValues(data), etag });

function EditForm({ original }: { original: Versioned<Tenant> }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const { nothingChanged } = useTexts(uiTexts);
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const notify = useNotify();
  const saveTenant = useSaveTenant();
  const { id, tenantName, tenantId } = original.data;
  const [form] = Form.useForm<FormValues>();
  const draft = useDraft(`tenant-${id}`, form);
  const { base, showTheirs } = useFormBase<Tenant, FormValues>({
    initialValues: toFormValues(original),
    form,
    draft,
    toFormValues,
  });
  const isDirty = useRef(false);
  const detailPath = `/tenants/${id}`;
  const discardDraft = () => {
    isDirty.current = false;
    draft.clear();
  };
  const save = useApiMutation({
    mutationFn: () => {
      const { etag, ...values } = form.getFieldsValue(true) as FormValues;
      return saveTenant(id, etag, values, (theirs) => {
        showTheirs(theirs);
        isDirty.current = false;
      });
    },
    invalidates: affectedBy.tenants,
    successMessage: (outcome) => (outcome === 'saved' ? t.saved : undefined),
    onSuccess: (outcome) => {
      if (outcome !== 'saved') return;
      discardDraft();
      if (isMounted()) navigate(detailPath);
    },
    onError: (error) => {
      const name = getErrorField(error);
      if (!name || !(error instanceof ApiError)) return false;
      form.setFields([{ name: name as 'endTime', errors: [getFieldErrorText(error, getFieldLabel(f, name))] }]);
      form.scrollToField(name, { focus: true });
      return true;
    },
  });
  const submit = () => {
    const { etag: _, ...values } = form.getFieldsValue(true) as FormValues;
    if (!isSameInput(toInput(base), toInput(values))) return save.mutate();
    notify.success(nothingChanged);
    discardDraft();
    navigate(detailPath);
  };
  useUnsavedChangesGuard({
    isDirty: () => isDirty.current || draft.isRestored(),
    onDiscard: discardDraft,
    isSaving: save.isPending,
  });
  const sections = [
    { title: f.basic, fields: <NameFields movedId={id} /> },
    { title: f.period, fields: <PeriodFields /> },
    { title: f.contact, fields: <ContactFields /> },
    { title: f.package, fields: <PackageFields /> },
    { title: f.quotas, fields: <QuotaFields /> },
    { title: f.rules, fields: <RuleFields /> },
  ];
  return (
    <Form
      form={form}
      layout="vertical"
      className="stack tenants-form"
      initialValues={base}
      onFinish={submit}
      onValuesChange={() => {
        isDirty.current = true;
        draft.onValuesChange();
      }}
    >
      <PageTitle title={t.editing(tenantName || tenantId)} />
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          discardDraft();
          form.resetFields();
        }}
      />
      {sections.map(({ title, fields }) => (
        <Card key={title} title={title}>
          {fields}
        </Card>
      ))}
      <div className="form-actions tenants-form-footer">
        <Button onClick={() => navigate(detailPath)} disabled={save.isPending}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={save.isPending}>
          {t.save}
        </Button>
      </div>
    </Form>
  );
}
