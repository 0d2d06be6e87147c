import { DeleteOutlined } from '@ant-design/icons';
import { Link } from 'react-router';
import { useTexts } from '../language.ts';
import type { Restorable } from './restore-record.ts';
import { uiTexts } from './texts.ts';

/** Leads to the deleted records of one kind. */
export function DeletedLink({ kind }: { kind: Restorable }) {
  const t = useTexts(uiTexts);
  return (
    <Link to={`/deleted/${kind}`} className="deleted-link">
      <DeleteOutlined aria-hidden /> {t.deleted}
    </Link>
  );
}
