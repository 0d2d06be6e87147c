import { Alert, Button, Form, Input, Radio } from 'antd';
import { type RefObject, useEffect, useState } from 'react';
import { api, type User } from '../api.ts';
import type { Tagged } from '../calls.ts';
import { type ApiRefusal, isRefusal } from '../http.ts';
import { useTexts } from '../language.ts';
import { readMeAgain, useMe } from '../session.ts';
import { useAction } from '../ui/action.ts';
import { useConflict } from '../ui/conflict.tsx';
import { DepartmentSelect, DepartmentsSelect } from '../ui/department-select.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { useNotices } from '../ui/notices.ts';
import { useStay } from './leaving.tsx';
import { PasswordInput } from './password-input.tsx';
import { differencesOf, recordOf, type Typed, typedOf } from './person-fields.ts';
import type { Credentials } from './shown-once.tsx';
import { formTexts } from './texts.ts';

/** For who wants to close the dialog around it. */
export interface Leaving {
  isTyped: () => boolean;
  discard: () => void;
  busy: boolean;
}

interface Props {
  /** Undefined: somebody new. */
  was: Tagged<User> | undefined;
  tenantId: string | undefined;
  leaving: RefObject<Leaving | undefined>;
  cancel: () => void;
  /** With a password when there is a new one. */
  saved: (credentials?: Credentials) => void;
}

export function PersonForm({ was, tenantId, leaving, cancel, saved }: Props) {
  const t = useTexts(formTexts);
  const { user: me, tenant } = useMe();
  const [form] = Form.useForm<Typed>();
  const [limit, setLimit] = useState<ApiRefusal>();
  const saveOrAsk = useConflict();
  const notices = useNotices();
  const inTenant = tenantId ?? tenant.tenantId;
  const draft = useDraft<Typed>(`user-${inTenant}-${was?.data.userId ?? 'new'}`, form);
  const initial: Partial<Typed> = was ? typedOf(was) : { status: '0', role: 'member', deptIds: [] };
  /** Tells whether it is done, rather than put off. */
  const save = async (typed: Typed): Promise<boolean> => {
    setLimit(undefined);
    const record = recordOf(typed, inTenant);
    if (!was) {
      await api.createUser({ ...record, password: typed.password ?? '' });
      return true;
    }
    const { userId } = was.data;
    const names = new Map<number, string>();
    const outcome = await saveOrAsk<User>({
      // Of the read that what is typed began with, also when it was put back after a reload.
      etag: form.getFieldValue('etag') ?? was.etag,
      save: (ifMatch) => api.updateUser({ ...record, userId }, ifMatch),
      read: async () => {
        const theirs = await api.readUser(userId, { tenantId });
        if (!tenantId) await learnNames(names, [theirs.data.deptId, ...theirs.data.deptIds, ...departmentsOf(typed)]);
        return theirs;
      },
      show: (theirs) => form.setFieldsValue(typedOf(theirs)),
      differences: (theirs) => differencesOf(typedOf({ data: theirs, etag: '' }), typed, t, names),
    });
    return outcome === 'saved';
  };

  const { start, busy } = useAction({
    run: save,
    changes: [['user'], ['user-list'], ['dept-users'], ['dept-children'], ['dept-tree'], ['overview']],
    after: (done, typed) => {
      if (!done) return;
      draft.clear();
      const who = typed.nickName || typed.userName;
      notices.done(was ? t.saved(who) : t.added(who));
      if (was?.data.userId === me.userId && !tenantId) void readMeAgain();
      saved(was ? undefined : { tenantId: inTenant, userName: typed.userName, password: typed.password ?? '' });
    },
    refused: (error) => {
      if (isRefusal(error, 'ACCOUNT_LIMIT')) {
        setLimit(error);
        return true;
      }
      if (!isRefusal(error, 'USER_NAME_TAKEN')) return false;
      form.setFields([{ name: 'userName', errors: [error.message] }]);
      form.focusField('userName');
      return true;
    },
  });

  useStay(busy);
  useEffect(() => {
    leaving.current = { isTyped: () => form.isFieldsTouched() || draft.restored, discard: draft.clear, busy };
    return () => {
      leaving.current = undefined;
    };
  });

  const required = { required: true, whitespace: true, message: t.required };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={initial}
      onFinish={() => start({ ...initial, ...form.getFieldsValue(true) })}
      onValuesChange={draft.onValuesChange}
      className="people-form"
    >
      <DraftNotice
        restored={draft.restored}
        discard={() => {
          draft.clear();
          form.resetFields();
        }}
      />
      {limit && (
        <Alert
          type="error"
          showIcon
          role="alert"
          className="gap-below"
          title={limit.message}
          description={`${t.limitTitle(Number(limit.data.accountCount))}${t.limitHint}`}
        />
      )}
      <div className="people-fields">
        <Form.Item name="userName" label={t.userName} rules={[required]} extra={t.userNameHint}>
          <Input maxLength={50} autoComplete="off" autoCapitalize="none" spellCheck={false} />
        </Form.Item>
        <Form.Item name="nickName" label={t.nickName}>
          <Input maxLength={50} autoComplete="off" />
        </Form.Item>
        {!was && (
          <Form.Item
            name="password"
            label={t.password}
            rules={[{ required: true, min: 8, message: t.tooShort }]}
            className="people-wide"
          >
            <PasswordInput />
          </Form.Item>
        )}
        {/* Departments of another tenant cannot be read: theirs stay as they are. */}
        {!tenantId && (
          <>
            <Form.Item name="deptId" label={t.deptId}>
              <DepartmentSelect />
            </Form.Item>
            <Form.Item name="deptIds" label={t.deptIds}>
              <DepartmentsSelect />
            </Form.Item>
          </>
        )}
        <Form.Item name="phone" label={t.phone}>
          <Input type="tel" maxLength={32} autoComplete="off" />
        </Form.Item>
        <Form.Item name="email" label={t.email} rules={[{ pattern: /^[^\s@]+@[^\s@]+$/, message: t.emailWrong }]}>
          <Input type="email" maxLength={254} autoComplete="off" />
        </Form.Item>
        <Form.Item name="role" label={t.role}>
          <Radio.Group
            options={[
              { value: 'member', label: t.member },
              { value: 'admin', label: t.admin },
            ]}
          />
        </Form.Item>
        <Form.Item name="status" label={t.status}>
          <Radio.Group
            options={[
              { value: '0', label: t.normal },
              { value: '1', label: t.disabled },
            ]}
          />
        </Form.Item>
      </div>
      <div className="actions">
        <Button onClick={cancel} disabled={busy}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={busy}>
          {was ? t.save : t.add}
        </Button>
      </div>
    </Form>
  );
}

const departmentsOf = ({ deptId, deptIds }: Typed) => [deptId, ...(deptIds ?? [])];

async function learnNames(names: Map<number, string>, ids: (number | null | undefined)[]): Promise<void> {
  const wanted = [...new Set(ids)].filter((id) => id != null);
  if (wanted.length === 0) return;
  const { data } = await api.readDepartments(wanted);
  for (const { deptId, deptName } of data.rows) names.set(deptId, deptName);
}
