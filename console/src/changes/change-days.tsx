import dayjs from 'dayjs';
import { useState } from 'react';
import type { AuditEntry } from '../api.ts';
import { useLanguage, useTexts } from '../language.ts';
import { BatchRow } from './batch-row.tsx';
import { ChangeRow } from './change-row.tsx';
import { changesTexts } from './texts.ts';

/**
 * Shows rows of the audit log under a heading for each day, in the time zone of the browser. Needs another `key` for each filter:
 * rows that were only hidden by the previous one have not just arrived.
 */
export function ChangeDays({ rows }: { rows: readonly AuditEntry[] }) {
  const t = useTexts(changesTexts);
  const language = useLanguage();
  // Rows that arrive later are highlighted.
  const [newestAtFirst] = useState(() => Math.max(0, ...rows.map(({ id }) => Number(id))));
  const days = new Map<string, AuditEntry[]>();
  for (const row of rows) {
    const day = dayjs(row.time).format('YYYY-MM-DD');
    const known = days.get(day);
    if (known) known.push(row);
    else days.set(day, [row]);
  }
  const today = dayjs().format('YYYY-MM-DD');
  const yesterday = dayjs().subtract(1, 'day').format('YYYY-MM-DD');
  const weekday = new Intl.DateTimeFormat(language === 'zh' ? 'zh-CN' : 'en', { weekday: 'long' });
  const headingOf = (day: string) => {
    const name = day === today ? t.today : day === yesterday ? t.yesterday : weekday.format(dayjs(day).toDate());
    return `${day} ${name}`;
  };
  return [...days].map(([day, changes]) => (
    <section key={day} aria-label={headingOf(day)}>
      <h2 className="changes-day">{headingOf(day)}</h2>
      <ul className="item-list">
        {changes.map((change) => (
          <Row key={`${change.tenantId}/${change.id}`} change={change} isNew={Number(change.id) > newestAtFirst} />
        ))}
      </ul>
    </section>
  ));
}

function Row({ change, isNew }: { change: AuditEntry; isNew: boolean }) {
  const { counts = [] } = change;
  const isBatch = counts.reduce((sum, { count }) => sum + count, 0) > 1;
  return isBatch ? (
    <BatchRow change={change} counts={counts} isNew={isNew} />
  ) : (
    <ChangeRow change={change} isNew={isNew} />
  );
}
