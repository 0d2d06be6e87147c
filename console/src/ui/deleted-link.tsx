import { DeleteOutlined } from '@ant-design/icons';
import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import type { Restorable } from './restore-record.ts';
import { uiTexts } from './texts.ts';

interface Props {
  kind: Restorable;
  /** The tenant of the records. Default: the user's own. */
  tenantId?: string | undefined;
}

/** Leads to the deleted records of one kind. */
export function DeletedLink({ kind, tenantId }: Props) {
  const t = useTexts(uiTexts);
  return (
    <Link to={`/deleted/${kind}${tenantId ? `?tenantId=${tenantId}` : ''}`} className="deleted-link">
      <DeleteOutlined aria-hidden /> {t.deleted}
    </Link>
  );
}
