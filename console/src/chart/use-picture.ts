import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useMe } from '../session.ts';
import { useNotices } from '../ui/notices.ts';
import { isMore, ofMore, type Picture, readFurther, readPicture, withOpen } from './picture.ts';

const LEVELS_AT_FIRST = 3;
/** What is opened unasked is to be read at a glance; what is asked for may be as much as a browser draws with ease. */
const CARDS_AT_FIRST = 150;
export const CARDS_AT_MOST = 2000;

/** The picture from this root, and what one can do with it. `levels` undefined: as many as one sees well. */
export function usePicture(root: string, levels: number | undefined) {
  const { tenant } = useMe();
  const tenantName = tenant.tenantName || tenant.tenantId;
  const queries = useQueryClient();
  const notices = useNotices();
  const [busy, setBusy] = useState<ReadonlySet<string>>(new Set());
  const key = ['dept-children', root, 'chart', levels === undefined ? 'few' : String(levels)];
  const query = useQuery({
    queryKey: key,
    queryFn: ({ signal }) => {
      const before = queries.getQueryData<Picture>(key);
      const atMost = levels === undefined ? CARDS_AT_FIRST : CARDS_AT_MOST;
      return readPicture({ root, tenantName, levels: levels ?? LEVELS_AT_FIRST, atMost, before }, signal);
    },
    // The one before stays until the next is there.
    placeholderData: (before) => before,
    // Read anew when one comes back to it, but not under one's eyes.
    staleTime: 0,
    refetchOnWindowFocus: false,
  });

  const change = (how: (picture: Picture) => Picture) =>
    queries.setQueryData<Picture>(key, (picture) => picture && how(picture));

  const further = async (id: string, of: string) => {
    const card = query.data?.cards.get(of);
    if (!card || busy.has(id)) return;
    setBusy((before) => new Set(before).add(id));
    try {
      const how = await readFurther(card);
      // A reading that began before this would undo it.
      await queries.cancelQueries({ queryKey: key });
      change(how);
    } catch (error) {
      notices.failed(error);
    } finally {
      setBusy((before) => new Set([...before].filter((other) => other !== id)));
    }
  };

  /** Opens or closes a card; on the one that stands for more, shows more. */
  const toggle = (id: string) => {
    if (isMore(id)) return further(id, ofMore(id));
    const card = query.data?.cards.get(id);
    if (!card?.hasChildren || card.kind === 'tenant') return;
    if (card.open || card.children) return change((picture) => withOpen(picture, id, !card.open));
    return further(id, id);
  };

  return { ...query, busy, toggle };
}
