import { useEffect, useState } from 'react';
import type { User } from '../../api.ts';

/** The selection spans pages and searches. It is cleared when another list is opened, such as that of another tenant. */
export function useSelection(listKey: string | number | undefined) {
  const [selected, setSelected] = useState<ReadonlyMap<number, User>>(new Map());
  const clearSelection = () => setSelected(new Map());
  // biome-ignore lint/correctness/useExhaustiveDependencies: only when the list changes
  useEffect(clearSelection, [listKey]);
  const select = (users: User[], isSelected: boolean) =>
    setSelected((previous) => {
      const next = new Map(previous);
      for (const user of users) isSelected ? next.set(user.userId, user) : next.delete(user.userId);
      return next;
    });
  return { selected, select, clearSelection };
}
