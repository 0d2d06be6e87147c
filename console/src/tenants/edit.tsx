import { useQuery } from '@tanstack/react-query';
import { Button, Card, Form } from 'antd';
import { useRef, useState } from 'react';
import { Navigate, useNavigate, useParams } from 'react-router';
import { api, type Tenant } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { ApiRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { useIsHere } from '../ui/is-here.ts';
import { useNotices } from '../ui/notices.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { fieldOf } from './field-of.ts';
import { fieldTexts } from './field-texts.ts';
import { PackageFields, PeriodFields, WhoFields } from './fields.tsx';
import { useLeaving } from './leaving.ts';
import { QuotaFields } from './quota-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { useSaving } from './saving.ts';
import { tenantsTexts } from './texts.ts';
import { type TenantValues, valuesOf } from './values.ts';

export function EditTenant() {
  const t = useTexts(tenantsTexts);
  const { id = '' } = useParams();
  const own = useMe().tenant.id === id;
  const { data, error, refetch } = useQuery({
    queryKey: ['tenant', id, 'edit'],
    queryFn: ({ signal }) => api.readTenant(id, signal),
    enabled: !own,
    // As it is when the form opens, and then left alone.
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (own) return <Navigate to={`/tenants/${id}`} replace />;
  if (data) return <EditForm key={id} read={data} />;
  return (
    <>
      <PageTitle title={t.edit} />
      {error ? <Failed error={error} retry={refetch} /> : <Loading />}
    </>
  );
}

/** The tag is in the form: a draft is saved against the version that it was typed upon. */
type Typed = TenantValues & { etag: string };

function EditForm({ read }: { read: Tagged<Tenant> }) {
  const t = useTexts(tenantsTexts);
  const f = useTexts(fieldTexts);
  const navigate = useNavigate();
  const isHere = useIsHere();
  const notices = useNotices();
  const save = useSaving();
  const { id, tenantName, tenantId } = read.data;
  const [form] = Form.useForm<Typed>();
  const [initial] = useState<Typed>(() => ({ ...valuesOf(read.data), etag: read.etag }));
  const draft = useDraft(`tenant-${id}`, form);
  const touched = useRef(false);
  const here = `/tenants/${id}`;
  const forget = () => {
    touched.current = false;
    draft.clear();
  };
  const saving = useAction({
    run: () => {
      const { etag, ...values } = form.getFieldsValue(true) as Typed;
      return save(id, etag, values, (theirs) => {
        form.setFieldsValue({ ...valuesOf(theirs.data), etag: theirs.etag });
        forget();
      });
    },
    changes: [['tenant'], ['tenant-list'], ['tenant-tree'], ['overview']],
    after: (outcome) => {
      if (outcome !== 'saved') return;
      notices.done(t.saved);
      forget();
      // After the render that knows of no draft any more.
      setTimeout(() => isHere() && navigate(here));
    },
    refused: (error) => {
      const name = fieldOf(error);
      if (!name || !(error instanceof ApiRefusal)) return false;
      form.setFields([{ name: name as 'endTime', errors: [error.message] }]);
      form.scrollToField(name, { focus: true });
      return true;
    },
  });
  useLeaving({ isDirty: () => touched.current || draft.restored, discard: forget, busy: saving.busy });
  const parts = [
    { title: f.who, fields: <WhoFields beneath={id} /> },
    { title: f.period, fields: <PeriodFields /> },
    { title: f.package, fields: <PackageFields /> },
    { title: f.quotas, fields: <QuotaFields /> },
    { title: f.rules, fields: <RuleFields /> },
  ];
  return (
    <Form
      form={form}
      layout="vertical"
      className="cards tenants-form"
      initialValues={initial}
      onFinish={() => saving.start()}
      onValuesChange={() => {
        touched.current = true;
        draft.onValuesChange();
      }}
    >
      <PageTitle title={t.editing(tenantName || tenantId)} />
      <DraftNotice
        restored={draft.restored}
        discard={() => {
          forget();
          form.resetFields();
        }}
      />
      {parts.map(({ title, fields }) => (
        <Card key={title} title={<h2>{title}</h2>}>
          {fields}
        </Card>
      ))}
      <div className="actions tenants-foot">
        <Button onClick={() => navigate(here)} disabled={saving.busy}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={saving.busy}>
          {t.save}
        </Button>
      </div>
    </Form>
  );
}
