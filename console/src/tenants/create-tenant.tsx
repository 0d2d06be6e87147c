import { Button, Form, Grid, Progress, Steps } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { api } from '../api.ts';
import { ApiError } from '../http.ts';
import { useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useMe } from '../session.ts';
import { Card } from '../ui/card.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { PageTitle } from '../ui/page-title.tsx';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useIsMounted } from '../ui/use-is-mounted.ts';
import { CreateSummary, type NewTenant } from './create-summary.tsx';
import { createTexts } from './create-texts.ts';
import { getErrorField } from './error-field.ts';
import { fieldTexts } from './field-texts.ts';
import { emptyValues, toInput } from './form-values.ts';
import { QuotaFields } from './quota-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { AdministratorFields, BasicFields, PackageFields, PeriodFields } from './tenant-fields.tsx';
import { useUnsavedChangesGuard } from './use-unsaved-changes-guard.ts';

const STEPS = ['basic', 'period', 'package', 'quotas', 'rules', 'administrator', 'summary'] as const;
const LAST_STEP = STEPS.length - 1;

/** The step that contains a field. */
const getStepOfField = (name: string) => {
  const patterns = [
    /^(tenant|company|contact)/,
    /Time$|^account|^status/,
    /^menuIds/,
    /^quotas/,
    /^rules/,
    /^(user|pass)/,
  ];
  return Math.max(
    patterns.findIndex((pattern) => pattern.test(name)),
    0,
  );
};

/**
 * One form for all steps. Each step validates its own fields; the values of the others are kept. The step is in the
 * URL.
 */
export function CreateTenant() {
  const t = useTexts(createTexts);
  const f = useTexts(fieldTexts);
  const navigate = useNavigate();
  const isMounted = useIsMounted();
  const { tenant: own } = useMe();
  const [search, setSearch] = useSearchParams();
  const parent = /^\d{6,18}$/.exec(search.get('parent') ?? '')?.[0] ?? own.tenantId;
  const [form] = Form.useForm<NewTenant>();
  const [initialValues] = useState<NewTenant>(() => ({ ...emptyValues(parent), wantsAdministrator: true, reached: 0 }));
  const draft = useDraft(`tenant-new-${parent}`, form);
  const isDirty = useRef(false);
  const getValues = () => form.getFieldsValue(true) as NewTenant;
  // A value of the form, so that a draft restores it.
  const reachedStep = (form.getFieldValue('reached') as number | undefined) ?? 0;
  const step = Math.min(Math.max(Number.parseInt(search.get('step') ?? '1', 10) - 1 || 0, 0), reachedStep);
  const goToStep = (to: number) => {
    form.setFieldValue('reached', Math.max(reachedStep, to));
    if (isDirty.current) draft.onValuesChange();
    const next = new URLSearchParams(search);
    next.set('step', String(to + 1));
    setSearch(next);
  };
  const discardDraft = () => {
    isDirty.current = false;
    draft.clear();
  };

  const showFieldError = (name: string | [string, string], message: string) => {
    goToStep(getStepOfField([name].flat()[0] as string));
    // The fields of that step exist after the next render.
    setTimeout(() => {
      form.setFields([{ name: name as 'password', errors: [message] }]);
      form.focusField(name as 'password');
    });
  };
  const create = useApiMutation({
    mutationFn: () => {
      const values = getValues();
      const { username = '', password = '' } = values;
      return api.createTenant({
        ...toInput(values),
        ...(values.wantsAdministrator ? { username: username.trim(), password } : {}),
      });
    },
    successMessage: t.created,
    invalidates: affectedBy.tenantLists,
    onSuccess: (id) => {
      const { wantsAdministrator, username } = getValues();
      discardDraft();
      const created = { username: wantsAdministrator ? username?.trim() : '' };
      setTimeout(() => isMounted() && navigate(`/tenants/${id}`, { replace: true, state: { created } }));
    },
    onError: (error) => {
      const name = getErrorField(error);
      if (!name || !(error instanceof ApiError)) return false;
      showFieldError(name, error.message);
      return true;
    },
  });
  useUnsavedChangesGuard({
    isDirty: () => isDirty.current || draft.restored,
    onDiscard: discardDraft,
    isSaving: create.isPending,
  });
  const submitStep = () => {
    if (step < LAST_STEP) return goToStep(step + 1);
    const { wantsAdministrator, password } = getValues();
    if (wantsAdministrator && !password) return showFieldError('password', t.passwordNotInDraft);
    return create.mutate();
  };
  const stepNames = [f.basic, f.period, f.package, f.quotas, f.rules, f.administrator, t.summary];
  const stepContents = [
    <BasicFields key="basic" />,
    <PeriodFields key="period" />,
    <PackageFields key="package" />,
    <QuotaFields key="quotas" />,
    <RuleFields key="rules" />,
    <AdministratorFields key="administrator" />,
    <CreateSummary key="summary" values={getValues()} onEdit={goToStep} />,
  ];
  return (
    <Form
      form={form}
      layout="vertical"
      className="stack tenants-form"
      initialValues={initialValues}
      onFinish={submitStep}
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
          form.setFieldsValue(initialValues);
          goToStep(0);
        }}
      />
      <StepIndicator names={stepNames} step={step} reached={reachedStep} onChange={goToStep} />
      <Card title={<StepTitle name={stepNames[step] ?? ''} step={step} />}>{stepContents[step]}</Card>
      <div className="form-actions tenants-form-footer">
        <Button onClick={() => navigate('/tenants')} disabled={create.isPending}>
          {t.cancel}
        </Button>
        {step > 0 && (
          <Button onClick={() => goToStep(step - 1)} disabled={create.isPending}>
            {t.back}
          </Button>
        )}
        <Button type="primary" htmlType="submit" loading={create.isPending}>
          {step === LAST_STEP ? t.create : t.next}
        </Button>
      </div>
    </Form>
  );
}

interface StepIndicatorProps {
  names: string[];
  step: number;
  reached: number;
  onChange: (step: number) => void;
}

function StepIndicator({ names, step, reached, onChange }: StepIndicatorProps) {
  const t = useTexts(createTexts);
  const isWide = Grid.useBreakpoint().lg !== false;
  if (!isWide)
    return (
      <div>
        <p className="tenants-step-name">{t.step(step + 1, names.length, names[step] ?? '')}</p>
        <Progress percent={(100 * (step + 1)) / names.length} showInfo={false} size="small" aria-hidden="true" />
      </div>
    );
  return (
    <nav aria-label={t.steps}>
      <Steps
        size="small"
        current={step}
        onChange={onChange}
        items={names.map((title, index) => ({ title, disabled: index > reached || index === step }))}
      />
    </nav>
  );
}

/** Takes the focus when the step changes, so that screen readers announce it. */
function StepTitle({ name, step }: { name: string; step: number }) {
  const title = useRef<HTMLHeadingElement>(null);
  const previousStep = useRef(step);
  useEffect(() => {
    if (previousStep.current !== step) title.current?.focus();
    previousStep.current = step;
  }, [step]);
  return (
    <h2 ref={title} tabIndex={-1} className="tenants-step-title">
      {name}
    </h2>
  );
}
