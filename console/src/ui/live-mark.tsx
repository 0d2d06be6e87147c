import { useTexts } from '../language.ts';
import { useRecentChange } from './recent-changes.ts';
import { uiTexts } from './texts.ts';

/** Marks a record that another user has just changed. The row that contains the mark is highlighted (styles.css). */
export function LiveMark({ resource, id }: { resource: string; id: number | string }) {
  const t = useTexts(uiTexts);
  const userName = useRecentChange(resource, id);
  return userName === undefined ? null : <span className="live-mark">{t.changedJustNow(userName)}</span>;
}
