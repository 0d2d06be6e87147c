import { Button, Checkbox, Form, Input, InputNumber, Radio, Select } from 'antd';
import dayjs from 'dayjs';
import { useEffect } from 'react';
import { api, type Key, type KeySecret } from '../api.ts';
import { ApiError } from '../http.ts';
import { useListFormat, useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useConflictDialog } from '../ui/conflict-dialog.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { getFieldErrorText } from '../ui/field-error.ts';
import { useBlockBackWhileSaving } from '../ui/leave-guard.tsx';
import { permissionTexts } from '../ui/permission-texts.ts';
import type { RecordFormProps } from '../ui/record-dialog.tsx';
import { isSameInput } from '../ui/record-diff.ts';
import { uiTexts } from '../ui/texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useFormBase } from '../ui/use-form-base.ts';
import { useFormHandle } from '../ui/use-form-dialog.ts';
import { useNotify } from '../ui/use-notify.ts';
import { ExpiryInput } from './expiry-input.tsx';
import { compareValues, formatTime, isNetwork, type KeyValues, NEW_KEY, toFormValues, toInput } from './key-values.ts';
import { PermissionsInput } from './permissions-input.tsx';
import { keyFormTexts } from './texts.ts';

/** A new key and its name. The key is null if its response was lost. */
export interface CreatedKey {
  name: string;
  key: string | null;
}

export function KeyForm({ original, handle, onCancel, onSaved }: RecordFormProps<Key, CreatedKey>) {
  const t = useTexts(keyFormTexts);
  const { nothingChanged } = useTexts(uiTexts);
  const permissionNames = useTexts(permissionTexts);
  const formatList = useListFormat();
  const [form] = Form.useForm<KeyValues>();
  const saveOrResolve = useConflictDialog();
  const notify = useNotify();
  const draft = useDraft<KeyValues>(`key-${original?.data.keyId ?? 'new'}`, form);
  const initialValues = original ? toFormValues(original) : NEW_KEY;
  const { base, showTheirs } = useFormBase<Key, KeyValues>({ initialValues, form, draft, toFormValues });
  /**
   * Returns the new key or, for an existing one, whether the values were saved: false if a conflict was cancelled, or resolved
   * with the other user's version.
   */
  const save = async (values: KeyValues): Promise<KeySecret | boolean> => {
    const record = toInput(values);
    if (!original) return api.addKey({ ...record, below: values.below });
    const { keyId } = original.data;
    const outcome = await saveOrResolve<Key>({
      // The version that the form is based on, even if it was restored from a draft.
      etag: form.getFieldValue('etag') ?? original.etag,
      save: (ifMatch) => api.updateKey({ ...record, status: values.status, keyId }, ifMatch),
      read: () => api.readKey(keyId),
      showTheirs,
      getConflicts: (theirs) =>
        compareValues(toFormValues({ data: theirs, etag: '' }), values, t, { permissionNames, formatList }),
    });
    return outcome === 'saved';
  };
  const { mutate, isPending } = useApiMutation({
    mutationFn: save,
    invalidates: affectedBy.keys,
    onSuccess: (result, { keyName }) => {
      if (result === false) return;
      draft.clear();
      notify.success(original ? t.saved : t.created);
      onSaved(result === true ? undefined : { name: keyName.trim(), key: result.key });
    },
    onError: (error) => {
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
  useEffect(() => form.focusField('keyName'), [form]);
  const submit = () => {
    const values = { ...base, ...form.getFieldsValue(true) } as KeyValues;
    const withStatus = (values: KeyValues) => ({ ...toInput(values), status: values.status });
    if (!original || !isSameInput(withStatus(base), withStatus(values))) return mutate(values);
    draft.clear();
    notify.success(nothingChanged);
    onSaved();
  };
  return (
    <Form
      form={form}
      layout="vertical"
      initialValues={base}
      onFinish={submit}
      onValuesChange={draft.onValuesChange}
      className="keys-form"
    >
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          draft.clear();
          form.resetFields();
        }}
      />
      <Form.Item
        name="keyName"
        label={t.keyName}
        extra={t.keyNameHint}
        rules={[{ required: true, whitespace: true, message: t.required }]}
      >
        <Input maxLength={100} autoComplete="off" />
      </Form.Item>
      <Form.Item
        name="permissions"
        label={t.permissions}
        extra={t.permissionsHint}
        rules={[{ required: true, type: 'array', min: 1, message: t.permissionsRequired }]}
      >
        <PermissionsInput />
      </Form.Item>
      <Form.Item name="below" label={t.below} valuePropName="checked" extra={t.belowHint}>
        <Checkbox disabled={original !== undefined}>{t.belowLabel}</Checkbox>
      </Form.Item>
      <div className="keys-fields">
        <Form.Item
          name="expiresTime"
          label={t.expiresTime}
          extra={t.expiresTimeHint}
          rules={[
            {
              validator: async (_, time: string | null) => {
                if (time && time !== base.expiresTime && time <= formatTime(dayjs()))
                  throw new Error(t.expiresTimePast);
              },
            },
          ]}
        >
          <ExpiryInput />
        </Form.Item>
        <Form.Item name="requestsPerMinute" label={t.requestsPerMinute} extra={t.requestsPerMinuteHint}>
          <InputNumber min={1} max={1_000_000} precision={0} className="full-width" />
        </Form.Item>
      </div>
      <Form.Item
        name="addresses"
        label={t.addresses}
        extra={t.addressesHint}
        rules={[
          {
            validator: async (_, addresses: string[] = []) => {
              const invalid = addresses.find((address) => !isNetwork(address));
              if (invalid !== undefined) throw new Error(t.addressInvalid(invalid));
            },
          },
        ]}
      >
        <Select mode="tags" open={false} suffixIcon={null} tokenSeparators={[',', '，', ' ', ';', '\n']} />
      </Form.Item>
      {original && (
        <Form.Item name="status" label={t.status}>
          <Radio.Group
            options={[
              { value: '0', label: t.normal },
              { value: '1', label: t.disabled },
            ]}
          />
        </Form.Item>
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

const FIELDS = ['keyName', 'permissions', 'expiresTime', 'addresses', 'requestsPerMinute'] as const;

/** The field whose value the service has rejected; undefined if the form does not show it. */
function getErrorField(error: unknown): (typeof FIELDS)[number] | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (error.reason === 'PERMISSION_NOT_HELD') return 'permissions';
  // An item of an array has a path, such as addresses[0].
  return FIELDS.find((field) => String(error.details.field ?? '').startsWith(field));
}
