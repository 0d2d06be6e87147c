import { useTexts } from '../language.ts';
import { StatusTag } from './status-tag.tsx';
import { getTenantState, type Period } from './tenant-period.ts';
import { tenantTexts } from './tenant-texts.ts';

const TONES = {
  active: 'success',
  expiring: 'warning',
  ended: 'error',
  upcoming: 'info',
  disabled: 'neutral',
} as const;

/** The state of a tenant, as a tag that looks the same on every screen. */
export function TenantStateTag({ tenant }: { tenant: Period & { status: '0' | '1' } }) {
  const t = useTexts(tenantTexts);
  const state = getTenantState(tenant);
  return <StatusTag tone={TONES[state]}>{t[state]}</StatusTag>;
}
