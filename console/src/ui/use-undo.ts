import { useQueryClient } from '@tanstack/react-query';
import { App } from 'antd';
import { createElement } from 'react';
import { api } from '../api.ts';
import { getTexts } from '../language.ts';
import { affectedBy } from '../query-keys.ts';
import { sessionGuard } from '../session.ts';
import type { Write } from '../writes.ts';
import { uiTexts } from './texts.ts';
import { reloadTrees } from './tree-reloads.ts';
import { UndoMessage } from './undo-message.tsx';
import { useNotify } from './use-notify.ts';

/** How long a message with a button stays, in seconds. */
const DURATION = 10;

/** Returns a function that shows a success message with a button that undoes what was written. */
export function useUndo() {
  const { message } = App.useApp();
  const notify = useNotify();
  const queryClient = useQueryClient();
  return (text: string, writes: readonly Write[]): void => {
    if (writes.length === 0) {
      notify.success(text);
      return;
    }
    const t = getTexts(uiTexts);
    const key = `undo-${writes.at(-1)?.requestId}`;
    const undo = async () => {
      void message.loading({ key, content: t.undoing, duration: 0 });
      try {
        await undoWrites(writes);
        void message.success({ key, content: t.undone });
      } catch (error) {
        message.destroy(key);
        notify.error(error);
      } finally {
        // Some of several writes may have been undone before one failed.
        for (const queryKey of affectedBy.revert) void queryClient.invalidateQueries({ queryKey });
        reloadTrees('all');
      }
    };
    void message.success({ key, content: createElement(UndoMessage, { text, onUndo: undo }), duration: DURATION });
  };
}

/** Reverts writes, the last one first. */
async function undoWrites(writes: readonly Write[]): Promise<void> {
  const assertSameSession = sessionGuard();
  for (const { requestId, tenantId } of [...writes].reverse()) {
    assertSameSession();
    // Search only the ledger of this tenant: it also has the changes to the records of tenants below.
    const { data } = await api.listChanges({ requestId, below: false, limit: 1, ...(tenantId ? { tenantId } : {}) });
    assertSameSession();
    const [change] = data.rows;
    if (change) await api.revertChange(change.id, { tenantId });
  }
}
