import { Button, Checkbox, InputNumber } from 'antd';
import { type KeyboardEvent, useState } from 'react';
import { api, type Quota } from '../api.ts';
import { useTexts } from '../language.ts';
import { affectedBy, queryKeys } from '../query-keys.ts';
import { isInTenantRecord, useQuotaName } from './quota-texts.ts';
import { usageTexts } from './usage-texts.ts';
import { useApiMutation } from './use-api-mutation.ts';
import './quota-list.css';

export interface QuotaTenant {
  id: string;
  tenantId: string;
}

interface Props {
  tenant: QuotaTenant;
  quota: Pick<Quota, 'quota' | 'total' | 'period' | 'pooled'>;
}

/** A button that changes the total of a quota of a tenant below, in place. */
export function QuotaTotal({ tenant, quota }: Props) {
  const t = useTexts(usageTexts);
  const nameOf = useQuotaName();
  // Undefined until the form has been opened: the button that returns in its place gets the focus back.
  const [isEditing, setEditing] = useState<boolean>();
  if (isEditing) return <TotalForm tenant={tenant} quota={quota} onClose={() => setEditing(false)} />;
  return (
    <Button
      type="link"
      size="small"
      autoFocus={isEditing === false}
      aria-label={t.adjustOf(nameOf(quota.quota))}
      onClick={() => setEditing(true)}
    >
      {t.adjust}
    </Button>
  );
}

/** The totals of the six quotas of the tenant's record are at most this. */
const MAX_IN_RECORD = 2_147_483_647;

function TotalForm({ tenant, quota: shown, onClose }: Props & { onClose: () => void }) {
  const { quota, total } = shown;
  const t = useTexts(usageTexts);
  const name = useQuotaName()(quota);
  const inRecord = isInTenantRecord(quota);
  const [value, setValue] = useState<number | null>(total < 0 ? null : total);
  const [isUnlimited, setUnlimited] = useState(total < 0);
  const next = isUnlimited ? -1 : value;
  const { mutate, isPending } = useApiMutation({
    mutationFn: async (next: number) => {
      if (inRecord) return api.patchTenant(tenant.id, { quotaBo: { [quota]: next } });
      const { tenantId } = tenant;
      // The row may be outdated: keep the period and the sharing that somebody else has set.
      const { data } = await api.listQuotas({ tenantId });
      const { period, pooled } = data.find((each) => each.quota === quota) ?? shown;
      return api.putQuota(quota, { total: next, period, pooled }, { tenantId });
    },
    successMessage: t.adjusted(name),
    invalidates: inRecord ? affectedBy.tenants : [...affectedBy.quotas, queryKeys.changes.all],
    onSuccess: onClose,
  });
  const save = () => {
    if (next === null) return;
    if (next === total) onClose();
    else mutate(next);
  };
  const handleKey = (event: KeyboardEvent) => {
    if (event.repeat || event.nativeEvent.isComposing) return;
    if (event.key === 'Enter') save();
  };
  const handleEscape = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && !event.nativeEvent.isComposing && !isPending) onClose();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: Escape closes the form, wherever the focus is in it
    <div className="quota-total" onKeyDown={handleEscape}>
      <InputNumber<number>
        autoFocus
        aria-label={t.totalOf(name)}
        min={0}
        max={inRecord ? MAX_IN_RECORD : Number.MAX_SAFE_INTEGER}
        precision={0}
        value={isUnlimited ? null : value}
        disabled={isUnlimited || isPending}
        onChange={setValue}
        onKeyDown={handleKey}
      />
      {!inRecord && (
        <Checkbox checked={isUnlimited} disabled={isPending} onChange={({ target }) => setUnlimited(target.checked)}>
          {t.noLimit}
        </Checkbox>
      )}
      <Button type="primary" size="small" loading={isPending} disabled={next === null} onClick={save}>
        {t.save}
      </Button>
      <Button size="small" disabled={isPending} onClick={onClose}>
        {t.cancel}
      </Button>
    </div>
  );
}
