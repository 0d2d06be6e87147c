import { Alert, Button, Form, Input, Radio } from 'antd';
import { useEffect, useRef, useState } from 'react';
import { api, type User } from '../../api.ts';
import { ApiError, isApiError } from '../../http.ts';
import { useListFormat, useTexts } from '../../language.ts';
import { affectedBy } from '../../query-keys.ts';
import { refreshMe, useMe } from '../../session.ts';
import { useConflictDialog } from '../conflict-dialog.tsx';
import { DepartmentMultiPicker, DepartmentPicker } from '../department/department-picker.tsx';
import { DescriptionList } from '../description-list.tsx';
import { DraftNotice, useDraft } from '../draft.tsx';
import { getFieldErrorText } from '../field-error.ts';
import { useBlockBackWhileSaving } from '../leave-guard.tsx';
import { usePhoneRule } from '../phone-rule.ts';
import type { RecordFormProps } from '../record-dialog.tsx';
import { isSameInput } from '../record-diff.ts';
import { uiTexts } from '../texts.ts';
import { useApiMutation } from '../use-api-mutation.ts';
import { useFormBase } from '../use-form-base.ts';
import { useFormHandle } from '../use-form-dialog.ts';
import { useNotify } from '../use-notify.ts';
import type { Credentials } from './new-credentials.tsx';
import { PasswordInput } from './password-input.tsx';
import { formTexts } from './texts.ts';
import { compareValues, toFormValues, toInput, type UserFormValues } from './user-form-values.ts';
import './user.css';

interface Props extends RecordFormProps<User, Credentials> {
  tenantId: string | undefined;
  /** The main department of a new user. */
  deptId?: number | undefined;
}

export function UserForm({ original, tenantId, deptId, handle, onCancel, onSaved }: Props) {
  const t = useTexts(formTexts);
  const { nothingChanged } = useTexts(uiTexts);
  const formatList = useListFormat();
  const { user: me, tenant } = useMe();
  const [form] = Form.useForm<UserFormValues>();
  const [limitError, setLimitError] = useState<ApiError>();
  const saveOrResolve = useConflictDialog();
  const notify = useNotify();
  // A generated password is known to the administrator, so its user must replace it.
  const generatedPassword = useRef('');
  const userTenantId = tenantId ?? tenant.tenantId;
  const draft = useDraft<UserFormValues>(
    `user-${userTenantId}-${original?.data.userId ?? (deptId ? `new-${deptId}` : 'new')}`,
    form,
  );
  const initialValues: UserFormValues = original
    ? toFormValues(original)
    : { userName: '', status: '0', role: 'member', deptId: deptId ?? null, deptIds: [] };
  const { base, showTheirs } = useFormBase<User, UserFormValues>({ initialValues, form, draft, toFormValues });
  /** Returns whether the values were saved: false if a conflict was cancelled, or resolved with the other user's version. */
  const save = async (values: UserFormValues): Promise<boolean> => {
    setLimitError(undefined);
    const record = toInput(values, userTenantId);
    if (!original) {
      const { password = '' } = values;
      await api.createUser({ ...record, password, mustChangePassword: password === generatedPassword.current });
      return true;
    }
    const { userId } = original.data;
    const names = new Map<number, string>();
    const outcome = await saveOrResolve<User>({
      // The version that the form is based on, even if it was restored from a draft.
      etag: form.getFieldValue('etag') ?? original.etag,
      save: (ifMatch) => api.updateUser({ ...record, userId }, ifMatch),
      read: async () => {
        const theirs = await api.readUser(userId, { tenantId });
        if (!tenantId)
          await readNames(names, [theirs.data.deptId, ...theirs.data.deptIds, ...getDepartmentIds(values)]);
        return theirs;
      },
      showTheirs,
      getConflicts: (theirs) =>
        compareValues(toFormValues({ data: theirs, etag: '' }), values, t, { names, formatList }),
    });
    return outcome === 'saved';
  };

  const { mutate, isPending } = useApiMutation({
    mutationFn: save,
    invalidates: affectedBy.users,
    successMessage: (isSaved, { nickName, userName }) =>
      isSaved ? (original ? t.saved : t.created)(nickName || userName) : undefined,
    onSuccess: (isSaved, values) => {
      if (!isSaved) return;
      draft.clear();
      if (original?.data.userId === me.userId && !tenantId) void refreshMe();
      // The name as it was sent, without spaces around it.
      const { userName } = toInput(values, userTenantId);
      const { password = '' } = values;
      onSaved(original ? undefined : { tenantId: userTenantId, userName, password });
    },
    onError: (error) => {
      if (isApiError(error, 'ACCOUNT_LIMIT')) {
        setLimitError(error);
        return true;
      }
      const name = getErrorField(error);
      if (!name) return false;
      form.setFields([{ name, errors: [getFieldErrorText(error as ApiError, t[name])] }]);
      form.focusField(name);
      return true;
    },
  });

  useBlockBackWhileSaving(isPending);
  useFormHandle(handle, {
    isDirty: () => form.isFieldsTouched() || draft.restored,
    discardDraft: draft.clear,
    isPending,
  });

  // The dialog sets the focus when it opens, but the form may appear later, once its record has been read.
  useEffect(() => form.focusField('userName'), [form]);
  const submit = () => {
    const values = { ...base, ...form.getFieldsValue(true) } as UserFormValues;
    if (!original || !isSameInput(toInput(base, userTenantId), toInput(values, userTenantId))) return mutate(values);
    draft.clear();
    notify.success(nothingChanged);
    onSaved();
  };
  const phoneRule = usePhoneRule();
  const required = { required: true, whitespace: true, message: t.required };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={base}
      onFinish={submit}
      onValuesChange={draft.onValuesChange}
      className="user-form"
    >
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          draft.clear();
          form.resetFields();
        }}
      />
      {limitError && (
        <Alert
          type="error"
          showIcon
          role="alert"
          className="margin-bottom"
          title={limitError.message}
          description={`${t.limitReached(Number(limitError.details.accountCount))}${t.limitHint}`}
        />
      )}
      <div className="user-fields">
        <Form.Item name="userName" label={t.userName} rules={[required]} extra={t.userNameHint}>
          <Input maxLength={50} autoComplete="off" autoCapitalize="none" spellCheck={false} />
        </Form.Item>
        <Form.Item name="nickName" label={t.nickName}>
          <Input maxLength={50} autoComplete="off" />
        </Form.Item>
        <Form.Item name="position" label={t.position}>
          <Input maxLength={100} autoComplete="off" />
        </Form.Item>
        {!original && (
          <Form.Item
            name="password"
            label={t.password}
            rules={[{ required: true, min: 8, message: t.tooShort }]}
            className="full-row"
          >
            <PasswordInput
              onGenerate={(password) => {
                generatedPassword.current = password;
              }}
            />
          </Form.Item>
        )}
        {/* The pickers offer only departments of the current tenant, so a user of another tenant keeps theirs. */}
        {!tenantId && (
          <>
            <Form.Item name="deptId" label={t.deptId}>
              <DepartmentPicker />
            </Form.Item>
            <Form.Item name="deptIds" label={t.deptIds}>
              <DepartmentMultiPicker />
            </Form.Item>
          </>
        )}
        <Form.Item name="phone" label={t.phone} rules={[phoneRule]}>
          <Input type="tel" maxLength={32} autoComplete="off" />
        </Form.Item>
        <Form.Item name="email" label={t.email} rules={[{ pattern: /^[^\s@]+@[^\s@]+$/, message: t.emailInvalid }]}>
          <Input inputMode="email" maxLength={254} autoComplete="off" />
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
      {/* Another system sets these fields. An update that omits them keeps them. */}
      {original?.data.source != null && (
        <DescriptionList
          className="margin-bottom"
          items={[
            { label: t.source, value: original.data.source },
            { label: t.externalId, value: original.data.externalId },
          ]}
        />
      )}
      <div className="form-actions">
        <Button onClick={onCancel} disabled={isPending}>
          {t.cancel}
        </Button>
        <Button type="primary" htmlType="submit" loading={isPending}>
          {original ? t.save : t.create}
        </Button>
      </div>
    </Form>
  );
}

/** The field whose value the service has rejected, if it is the user name or the password. */
function getErrorField(error: unknown): 'userName' | 'password' | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.reason === 'USER_NAME_TAKEN') return 'userName';
  const { field } = error.details;
  return field === 'userName' || field === 'password' ? field : undefined;
}

const getDepartmentIds = ({ deptId, deptIds }: UserFormValues) => [deptId, ...(deptIds ?? [])];

async function readNames(names: Map<number, string>, ids: (number | null | undefined)[]): Promise<void> {
  const uniqueIds = [...new Set(ids)].filter((id) => id != null);
  if (uniqueIds.length === 0) return;
  const { data } = await api.readDepartments(uniqueIds);
  for (const { deptId, deptName } of data.rows) names.set(deptId, deptName);
}
