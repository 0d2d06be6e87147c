import { DownOutlined, UpOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { useId, useState } from 'react';
import { Link } from 'react-router';
import type { AuditEntry } from '../api.ts';
import { useTexts } from '../language.ts';
import { useMe } from '../session.ts';
import { ChangeLine, nameIn } from '../ui/change.tsx';
import { changeTexts } from '../ui/change-texts.ts';
import { Differences } from '../ui/differences.tsx';
import { differing } from '../ui/differing.ts';
import { recordTexts, useRecordWords } from '../ui/record-words.ts';
import { Revert } from './revert.tsx';
import { changesTexts } from './texts.ts';

/** One change; opened, what it changed. */
export function Row({ change }: { change: AuditEntry }) {
  const t = useTexts(changesTexts);
  const words = useTexts(changeTexts);
  const [open, setOpen] = useState(false);
  const content = useId();
  const own = useMe().tenant.tenantId;
  const { resource, resourceId, tenantId, address } = change;
  const what = `${words[resource]} ${nameIn(change) || change.by || resourceId}`;
  const foreign = tenantId !== own;
  const opening = change.before || change.after || address;
  return (
    <li className="changes-row">
      <ChangeLine change={change}>
        {foreign && t.inTenant(tenantId)}
        <Fields change={change} />
      </ChangeLine>
      {opening && (
        <Button
          type="text"
          icon={open ? <UpOutlined /> : <DownOutlined />}
          aria-expanded={open}
          aria-controls={open ? content : undefined}
          aria-label={t.detailsOf(what)}
          onClick={() => setOpen(!open)}
        >
          <span className="changes-word">{t.details}</span>
        </Button>
      )}
      {open && (
        <div id={content} className="changes-opened">
          <Differences change={change} foreign={foreign} />
          <div className="changes-beneath">
            {address && <span className="quiet">{t.address(address)}</span>}
            {resource !== 'login' && (
              <Link
                to={`/changes?resource=${resource}&resourceId=${resourceId}${foreign ? `&tenant=${tenantId}` : ''}`}
              >
                {t.sameRecord}
              </Link>
            )}
            <Revert change={change} />
          </div>
        </div>
      )}
    </li>
  );
}

/** Of what was changed, which fields. */
function Fields({ change: { resource, before, after } }: { change: AuditEntry }) {
  const t = useTexts(recordTexts);
  const words = useRecordWords(resource);
  if (!before || !after) return null;
  const fields = differing(words, before, after).map(({ field }) => words[field]);
  return fields.length > 0 ? <> · {fields.join(t.between)}</> : null;
}
