import { Button, Space } from 'antd';
import { useCallback } from 'react';
import type { Tagged } from '../calls.ts';
import { isRefusal } from '../http.ts';
import { textsNow } from '../language.ts';
import { useDialogs } from './dialogs.ts';
import { uiTexts } from './texts.ts';

interface Saving<T> {
  /** Of the read that the form was filled from. */
  etag: string;
  save: (ifMatch: string) => Promise<unknown>;
  /** Reads it as it is now. */
  read: () => Promise<Tagged<T>>;
  /** Puts theirs into the form, and remembers their tag. */
  show: (theirs: Tagged<T>) => void;
  /** Which fields differ, as people would read them. */
  differences?: (theirs: T) => { field: string; theirs: string; mine: string }[];
}

export type Outcome = 'saved' | 'theirs' | 'cancelled';

/**
 * Saves, and when somebody was quicker asks what to do instead of overwriting. "Keep mine" is asked again should a third
 * person be quicker still.
 */
export function useConflict() {
  const dialogs = useDialogs();
  return useCallback(
    async <T,>({ etag, save, read, show, differences }: Saving<T>): Promise<Outcome> => {
      for (let tag = etag; ; ) {
        try {
          await save(tag);
          return 'saved';
        } catch (error) {
          if (!isRefusal(error, 'CHANGED_MEANWHILE')) throw error;
        }
        const theirs = await read();
        const choice = await ask(dialogs, whoChanged(theirs.data), differences?.(theirs.data) ?? []);
        if (choice === 'cancelled') return choice;
        if (choice === 'theirs') {
          show(theirs);
          return choice;
        }
        tag = theirs.etag;
      }
    },
    [dialogs],
  );
}

const whoChanged = (record: unknown) => (record as { updateBy?: string }).updateBy ?? '';

type Dialogs = ReturnType<typeof useDialogs>;
type Differences = { field: string; theirs: string; mine: string }[];

function ask(dialogs: Dialogs, who: string, differences: Differences): Promise<'mine' | 'theirs' | 'cancelled'> {
  const t = textsNow(uiTexts);
  return new Promise((resolve) => {
    const choose = (choice: 'mine' | 'theirs' | 'cancelled') => () => {
      dialog.destroy();
      resolve(choice);
    };
    const dialog = dialogs.confirm({
      title: t.changed,
      width: 560,
      onCancel: () => resolve('cancelled'),
      content: (
        <>
          <p>{who ? t.changedBy(who) : t.changedBySomebody}</p>
          {differences.length > 0 && <Table differences={differences} />}
        </>
      ),
      footer: (
        <Space wrap className="actions">
          <Button onClick={choose('cancelled')}>{t.cancel}</Button>
          <Button onClick={choose('mine')}>{t.keepMine}</Button>
          <Button type="primary" onClick={choose('theirs')}>
            {t.showTheirs}
          </Button>
        </Space>
      ),
    });
  });
}

function Table({ differences }: { differences: Differences }) {
  const t = textsNow(uiTexts);
  return (
    <table className="differences">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.theirs}</th>
          <th scope="col">{t.mine}</th>
        </tr>
      </thead>
      <tbody>
        {differences.map(({ field, theirs, mine }) => (
          <tr key={field}>
            <th scope="row">{field}</th>
            <td>{theirs}</td>
            <td>{mine}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
