import { Button, Space } from 'antd';
import { useCallback } from 'react';
import { isApiError } from '../http.ts';
import { getTexts } from '../language.ts';
import type { Versioned } from '../request.ts';
import { uiTexts } from './texts.ts';
import { useDialogs } from './use-dialogs.ts';

type Conflict = { field: string; theirs: string; mine: string };

interface SaveOptions<T> {
  /** The ETag of the record that the form was filled with. */
  etag: string;
  save: (ifMatch: string) => Promise<unknown>;
  /** Reads the current record. */
  read: () => Promise<Versioned<T>>;
  /** Fills the form with the other user's version and remembers its ETag. */
  showTheirs: (theirs: Versioned<T>) => void;
  /** The fields that differ, as labels and display values. */
  getConflicts?: (theirs: T) => Conflict[] | Promise<Conflict[]>;
}

type SaveOutcome = 'saved' | 'theirs' | 'cancelled';

/**
 * Saves a record with If-Match. If another user has changed it since it was read, a dialog asks which version to keep.
 * It asks again if the record changes once more before it is saved.
 */
export function useConflictDialog() {
  const dialogs = useDialogs();
  return useCallback(
    async <T,>({ etag, save, read, showTheirs, getConflicts }: SaveOptions<T>): Promise<SaveOutcome> => {
      for (let ifMatch = etag; ; ) {
        try {
          await save(ifMatch);
          return 'saved';
        } catch (error) {
          if (!isApiError(error, 'CHANGED_MEANWHILE')) throw error;
        }
        const theirs = await read();
        const choice = await askUser(dialogs, updatedBy(theirs.data), (await getConflicts?.(theirs.data)) ?? []);
        if (choice === 'cancelled') return choice;
        if (choice === 'theirs') {
          showTheirs(theirs);
          return choice;
        }
        ifMatch = theirs.etag;
      }
    },
    [dialogs],
  );
}

const updatedBy = (record: unknown) => (record as { updateBy?: string }).updateBy ?? '';

type Dialogs = ReturnType<typeof useDialogs>;
type Choice = 'mine' | 'theirs' | 'cancelled';

function askUser(dialogs: Dialogs, userName: string, conflicts: Conflict[]): Promise<Choice> {
  const t = getTexts(uiTexts);
  return new Promise((resolve) => {
    const choose = (choice: Choice) => () => {
      dialog.destroy();
      resolve(choice);
    };
    const dialog = dialogs.confirm({
      title: t.conflictTitle,
      width: 560,
      onCancel: () => resolve('cancelled'),
      content: (
        <>
          <p>{userName ? t.changedBy(userName) : t.changedBySomeone}</p>
          {conflicts.length > 0 && <ConflictTable conflicts={conflicts} />}
        </>
      ),
      footer: (
        <Space wrap className="form-actions">
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

function ConflictTable({ conflicts }: { conflicts: Conflict[] }) {
  const t = getTexts(uiTexts);
  return (
    <table className="comparison-table">
      <thead>
        <tr>
          <th scope="col">{t.field}</th>
          <th scope="col">{t.theirs}</th>
          <th scope="col">{t.mine}</th>
        </tr>
      </thead>
      <tbody>
        {conflicts.map(({ field, theirs, mine }) => (
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
