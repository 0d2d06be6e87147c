import { Button, Checkbox, Form, Input, Radio } from 'antd';
import { useEffect } from 'react';
import { api, type Webhook, type WebhookSecret } from '../api.ts';
import { ApiError } from '../http.ts';
import { useListFormat, useTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { useConflictDialog } from '../ui/conflict-dialog.tsx';
import { DraftNotice, useDraft } from '../ui/draft.tsx';
import { getFieldErrorText } from '../ui/field-error.ts';
import { useBlockBackWhileSaving } from '../ui/leave-guard.tsx';
import type { RecordFormProps } from '../ui/record-dialog.tsx';
import { isSameInput } from '../ui/record-diff.ts';
import { uiTexts } from '../ui/texts.ts';
import { useApiMutation } from '../ui/use-api-mutation.ts';
import { useFormBase } from '../ui/use-form-base.ts';
import { useFormHandle } from '../ui/use-form-dialog.ts';
import { useKindLabel } from '../ui/use-kind-label.ts';
import { useNotify } from '../ui/use-notify.ts';
import { KindsInput } from './kinds-input.tsx';
import { webhookFormTexts } from './texts.ts';
import { compareValues, getWebhookName, toFormValues, toInput, type WebhookValues } from './webhook-values.ts';

export interface CreatedWebhook {
  name: string;
  secret: string;
}

const NEW_WEBHOOK: WebhookValues = { name: '', url: '', kinds: ['*'], below: false, status: '0' };

export function WebhookForm({ original, handle, onCancel, onSaved }: RecordFormProps<Webhook, CreatedWebhook>) {
  const t = useTexts(webhookFormTexts);
  const { nothingChanged } = useTexts(uiTexts);
  const formatList = useListFormat();
  const kindLabel = useKindLabel();
  const [form] = Form.useForm<WebhookValues>();
  const saveOrResolve = useConflictDialog();
  const notify = useNotify();
  const draft = useDraft<WebhookValues>(`webhook-${original?.data.id ?? 'new'}`, form);
  const initialValues = original ? toFormValues(original) : NEW_WEBHOOK;
  const { base, showTheirs } = useFormBase<Webhook, WebhookValues>({ initialValues, form, draft, toFormValues });
  /**
   * Returns the secret of a new webhook or, for an existing one, whether the values were saved: false if a conflict was
   * cancelled, or resolved with the other user's version.
   */
  const save = async (values: WebhookValues): Promise<WebhookSecret | boolean> => {
    const record = toInput(values);
    if (!original) return api.addWebhook({ ...record, below: values.below });
    const { id } = original.data;
    const outcome = await saveOrResolve<Webhook>({
      // The version that the form is based on, even if it was restored from a draft.
      etag: form.getFieldValue('etag') ?? original.etag,
      save: (ifMatch) => api.updateWebhook({ ...record, id }, ifMatch),
      read: () => api.readWebhook(id),
      showTheirs,
      getConflicts: (theirs) =>
        compareValues(toFormValues({ data: theirs, etag: '' }), values, t, (kinds) => formatList(kinds.map(kindLabel))),
    });
    return outcome === 'saved';
  };
  const { mutate, isPending } = useApiMutation({
    mutationFn: save,
    invalidates: affectedBy.webhooks,
    onSuccess: (result, values) => {
      if (result === false) return;
      draft.clear();
      notify.success(original ? t.saved : t.created);
      onSaved(result === true ? undefined : { name: getWebhookName(toInput(values)), secret: result.secret });
    },
    onError: (error) => {
      if (!(error instanceof ApiError) || error.details.field !== 'url') return false;
      form.setFields([{ name: 'url', errors: [getFieldErrorText(error, t.url)] }]);
      form.focusField('url');
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
  useEffect(() => form.focusField('name'), [form]);
  const submit = () => {
    const values = { ...base, ...form.getFieldsValue(true) } as WebhookValues;
    if (!original || !isSameInput(toInput(base), toInput(values))) return mutate(values);
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
      className="webhooks-form"
    >
      <DraftNotice
        restored={draft.restored}
        onDiscard={() => {
          draft.clear();
          form.resetFields();
        }}
      />
      <Form.Item name="name" label={t.name} extra={t.nameHint}>
        <Input maxLength={100} autoComplete="off" />
      </Form.Item>
      <Form.Item
        name="url"
        label={t.url}
        extra={t.urlHint}
        rules={[
          { required: true, whitespace: true, message: t.required },
          {
            validator: async (_, url: string) => {
              if (url?.trim() && !/^https?:\/\/[^/]/i.test(url.trim())) throw new Error(t.urlInvalid);
            },
          },
        ]}
      >
        <Input inputMode="url" maxLength={2000} autoComplete="off" spellCheck={false} placeholder="https://" />
      </Form.Item>
      <Form.Item
        name="kinds"
        label={t.kinds}
        {...(original ? { extra: t.kindsHint } : {})}
        rules={[{ required: true, type: 'array', min: 1, message: t.kindsRequired }]}
      >
        <KindsInput />
      </Form.Item>
      <Form.Item name="below" label={t.below} valuePropName="checked" extra={t.belowHint}>
        <Checkbox disabled={original !== undefined}>{t.belowLabel}</Checkbox>
      </Form.Item>
      <Form.Item name="status" label={t.status}>
        <Radio.Group
          options={[
            { value: '0', label: t.normal },
            { value: '1', label: t.disabled },
          ]}
        />
      </Form.Item>
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
