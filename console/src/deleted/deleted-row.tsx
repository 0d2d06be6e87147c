import { UndoOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { Link } from 'react-router';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { DeletedBy, getResourceName } from '../ui/change-summary.tsx';
import { useRestore } from '../ui/use-restore.tsx';
import { deletedTexts } from './texts.ts';

export function DeletedRow({ change, descendantCount }: { change: AuditEntry; descendantCount: number }) {
  const t = useTexts(deletedTexts);
  const ownTenantId = useMe().tenant.tenantId;
  const { resource, resourceId, tenantId } = change;
  const scope = tenantId === ownTenantId ? '' : `&tenant=${tenantId}`;
  const name = getResourceName(change) || t.unnamed(resourceId);
  const { restore, isPending, dialog } = useRestore({ record: change, name, successMessage: t.restored(name) });
  return (
    <li className="deleted-row">
      <div className="deleted-name">
        <span>
          {name}
          {descendantCount > 0 && <span className="secondary"> · {t.with(descendantCount)}</span>}
        </span>
        <span className="secondary">
          <DeletedBy change={change} />
        </span>
      </div>
      <Link to={`/changes?resource=${resource}&resourceId=${resourceId}${scope}`} aria-label={t.historyOf(name)}>
        {t.history}
      </Link>
      <Button icon={<UndoOutlined />} loading={isPending} aria-label={t.restoreOf(name)} onClick={restore}>
        {t.restore}
      </Button>
      {dialog}
    </li>
  );
}
