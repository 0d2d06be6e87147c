import { useTexts } from '../language.ts';
import { ChildTenantNotice } from '../ui/child-tenant-notice.tsx';
import { peopleTexts } from './texts.ts';

/** Shown while the users of a descendant tenant are managed. */
export function OtherTenantNotice({ tenantId }: { tenantId: string }) {
  const t = useTexts(peopleTexts);
  return (
    <ChildTenantNotice tenantId={tenantId} title={t.otherTenant} description={t.otherTenantHint} ownPath="/people" />
  );
}
