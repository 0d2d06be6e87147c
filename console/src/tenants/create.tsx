import { Button, Card, Form, Grid, Progress, Steps } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { useNavigate, useSearchParams } from 'react-router';
import { api } from '../api.ts';
import { ApiRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { useIsHere } from '../ui/is-here.ts';
import { PageTitle } from '../ui/page-title.tsx';
import { fieldOf } from './field-of.ts';
import { fieldTexts } from './field-texts.ts';
import { AdministratorFields, PackageFields, PeriodFields, WhoFields } from './fields.tsx';
import { flowTexts } from './flow-texts.ts';
import { useLeaving } from './leaving.ts';
import { QuotaFields } from './quota-fields.tsx';
import { RuleFields } from './rule-fields.tsx';
import { type NewTenant, Summary } from './summary.tsx';
import { emptyValues, inputOf } from './values.ts';

const STEPS = ['who', 'period', 'package', 'quotas', 'rules', 'administrator', 'summary'] as const;
const LAST = STEPS.length - 1;

/** Which step a field is in. */
const stepOf = (name: string) => {
  const at = [/^(tenant|company|contact)/, /Time$|^account|^status/, /^menuIds/, /^quotas/, /^rules/, /^(user|pass)/];
  return Math.max(
    at.findIndex((sign) => sign.test(name)),
    0,
  );
};

/** One form over all steps: each checks its own fields, the values of the others stay. The step is in the address. */
export function CreateTenant() {
  const t = useTexts(flowTexts);
  const f = useTexts(fieldTexts);
  const navigate = useNavigate();
  const isHere = useIsHere();
  const { tenant: own } = useMe();
  const [search, setSearch] = useSearchParams();
  const parent = /^\d{6,18}$/.exec(search.get('parent') ?? '')?.[0] ?? own.tenantId;
  const [form] = Form.useForm<NewTenant>();
  const [initial] = useState<NewTenant>(() => ({ ...emptyValues(parent), wantsAdministrator: true, reached: 0 }));
  const draft = useDraft(`tenant-new-${parent}`, form);
  const touched = useRef(false);
  const all = () => form.getFieldsValue(true) as NewTenant;
  // In the form, so that a draft brings how far it was.
  const reached = (form.getFieldValue('reached') as number | undefined) ?? 0;
  const step = Math.min(Math.max(Number.parseInt(search.get('step') ?? '1', 10) - 1 || 0, 0), reached);
  const go = (to: number) => {
    form.setFieldValue('reached', Math.max(reached, to));
    if (touched.current) draft.onValuesChange();
    const next = new URLSearchParams(search);
    next.set('step', String(to + 1));
    setSearch(next);
  };
  const forget = () => {
    touched.current = false;
    draft.clear();
  };

  const complain = (name: string | [string, string], message: string) => {
    go(stepOf([name].flat()[0] as string));
    // Its fields are there after the next render.
    setTimeout(() => {
      form.setFields([{ name: name as 'password', errors: [message] }]);
      form.focusField(name as 'password');
    });
  };
  const create = useAction({
    run: () => {
      const values = all();
      const { username = '', password = '' } = values;
      return api.createTenant({
        ...inputOf(values),
        ...(values.wantsAdministrator ? { username: username.trim(), password } : {}),
      });
    },
    done: t.created,
    changes: [['tenant-list'], ['tenant-tree'], ['overview']],
    after: (id) => {
      const { wantsAdministrator, username } = all();
      forget();
      const created = { username: wantsAdministrator ? username?.trim() : '' };
      setTimeout(() => isHere() && navigate(`/tenants/${id}`, { replace: true, state: { created } }));
    },
    refused: (error) => {
      const name = fieldOf(error);
      if (!name || !(error instanceof ApiRefusal)) return false;
      complain(name, error.message);
      return true;
    },
  });
  useLeaving({ isDirty: () => touched.current || draft.restored, discard: forget, busy: create.busy });
  const onward = () => {
    if (step < LAST) return go(step + 1);
    const { wantsAdministrator, password } = all();
    if (wantsAdministrator && !password) return complain('password', t.passwordAgain);
    return create.start();
  };
  const names = [f.who, f.period, f.package, f.quotas, f.rules, f.administrator, t.summary];
  const parts = [
    <WhoFields key="who" />,
    <PeriodFields key="period" />,
    <PackageFields key="package" />,
    <QuotaFields key="quotas" fresh />,
    <RuleFields key="rules" />,
    <AdministratorFields key="administrator" />,
    <Summary key="summary" values={all()} go={go} />,
  ];
  return (
    <Form
      form={form}
      layout="vertical"
      className="cards tenants-form"
      initialValues={initial}
      onFinish={onward}
      onValuesChange={() => {
        touched.current = true;
        draft.onValuesChange();
      }}
    >
      <PageTitle title={t.title} />
      <DraftNotice
        restored={draft.restored}
        discard={() => {
          forget();
          form.resetFields();
          form.setFieldsValue(initial);
          go(0);
        }}
      />
      <Way names={names} step={step} reached={reached} go={go} />
      <Card title={<StepTitle name={names[step] ?? ''} at={step} />}>{parts[step]}</Card>
      <div className="actions tenants-foot">
        <Button onClick={() => navigate('/tenants')} disabled={create.busy}>
          {t.cancel}
        </Button>
        {step > 0 && (
          <Button onClick={() => go(step - 1)} disabled={create.busy}>
            {t.back}
          </Button>
        )}
        <Button type="primary" htmlType="submit" loading={create.busy}>
          {step === LAST ? t.create : t.next}
        </Button>
      </div>
    </Form>
  );
}

interface Going {
  names: string[];
  step: number;
  reached: number;
  go: (to: number) => void;
}

function Way({ names, step, reached, go }: Going) {
  const t = useTexts(flowTexts);
  const wide = Grid.useBreakpoint().lg !== false;
  if (!wide)
    return (
      <div>
        <p className="tenants-step">{t.step(step + 1, names.length, names[step] ?? '')}</p>
        <Progress percent={(100 * (step + 1)) / names.length} showInfo={false} size="small" aria-hidden="true" />
      </div>
    );
  return (
    <nav aria-label={t.steps}>
      <Steps
        size="small"
        current={step}
        onChange={go}
        items={names.map((title, at) => ({ title, disabled: at > reached || at === step }))}
      />
    </nav>
  );
}

/** The focus follows the steps, so that who listens hears which one it is. */
function StepTitle({ name, at }: { name: string; at: number }) {
  const title = useRef<HTMLHeadingElement>(null);
  const before = useRef(at);
  useEffect(() => {
    if (before.current !== at) title.current?.focus();
    before.current = at;
  }, [at]);
  return (
    <h2 ref={title} tabIndex={-1} className="tenants-step-title">
      {name}
    </h2>
  );
}
