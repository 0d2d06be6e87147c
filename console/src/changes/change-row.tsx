import { DownOutlined, UpOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { ChangeSummary, useResourceName } from '../ui/change-summary.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { FieldChanges, InlineFieldChanges } from '../ui/field-changes.tsx';
import { ChangeTenant } from '../ui/operator.tsx';
import { RevertButton } from '../ui/revert-button.tsx';
import { RestoreButton } from './restore-button.tsx';
import { changesTexts } from './texts.ts';

/** A change that expands to show the changed fields. `isNew` highlights a row that has just arrived. */
export function ChangeRow({ change, isNew = false }: { change: AuditEntry; isNew?: boolean }) {
  const t = useTexts(changesTexts);
  const labels = useTexts(changeTexts);
  const [expanded, setExpanded] = useState(false);
  const detailsId = useId();
  const ownTenantId = useMe().tenant.tenantId;
  const { resource, resourceId, tenantId, address } = change;
  const description = `${labels[resource]} ${useResourceName(change) || change.by || resourceId}`;
  const otherTenantId = tenantId === ownTenantId ? undefined : tenantId;
  const hasDetails = change.before || change.after || address;
  return (
    <li className={`changes-row${isNew ? ' changes-new' : ''}`}>
      <div className="changes-summary">
        <ChangeSummary change={change}>
          <ChangeTenant change={change} />
        </ChangeSummary>
        <InlineFieldChanges change={change} tenantId={otherTenantId} />
      </div>
      {hasDetails && (
        <Button
          type="text"
          icon={expanded ? <UpOutlined /> : <DownOutlined />}
          aria-expanded={expanded}
          aria-controls={expanded ? detailsId : undefined}
          aria-label={t.detailsOf(description)}
          onClick={() => setExpanded(!expanded)}
        >
          <span className="changes-button-label">{t.details}</span>
        </Button>
      )}
      {expanded && (
        <div id={detailsId} className="changes-details">
          <FieldChanges change={change} tenantId={otherTenantId} />
          <div className="changes-details-footer">
            {change.by && <span className="secondary">{t.byAccount(change.by)}</span>}
            {otherTenantId && <span className="secondary">{t.ofTenant(otherTenantId)}</span>}
            {address && <span className="secondary">{t.fromAddress(address)}</span>}
            {resource !== 'login' && (
              <Link
                to={`/changes?resource=${resource}&resourceId=${resourceId}${otherTenantId ? `&tenant=${otherTenantId}` : ''}`}
              >
                {t.changesOfRecord}
              </Link>
            )}
            <RestoreButton change={change} />
            <RevertButton change={change} />
          </div>
        </div>
      )}
    </li>
  );
}
