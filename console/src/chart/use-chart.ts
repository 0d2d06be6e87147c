import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { queryKeys } from '../query-keys.ts';
import { useIsAdministrator, useMe } from '../session.ts';
import { useNotify } from '../ui/use-notify.ts';
import { type ChartData, getMoreParent, isMoreCard, setOpen } from './chart-data.ts';
import { readChart, readNextChildren } from './read-chart.ts';

export const INITIAL_LEVELS = 3;
/**
 * Without a requested number of levels, the chart is small enough to read at a glance. With one, it may be as large as
 * a browser can draw.
 */
const MAX_CARDS_INITIALLY = 150;
const MAX_CARDS = 2000;

/**
 * Loads the chart of a root, as it is or as it was at the end of a day. Without `levels`, expands as many cards as are easy
 * to read.
 */
export function useChart(root: string, levels: number | undefined, day: string | undefined) {
  const { tenant } = useMe();
  const canListUsers = useIsAdministrator();
  const queryClient = useQueryClient();
  const notify = useNotify();
  const [loadingIds, setLoadingIds] = useState<ReadonlySet<string>>(new Set());
  const queryKey = queryKeys.departments.chart(root, levels === undefined ? 'default' : String(levels), day);
  const query = useQuery({
    queryKey,
    queryFn: ({ signal }) => {
      const previous = queryClient.getQueryData<ChartData>(queryKey);
      const maxCards = levels === undefined ? MAX_CARDS_INITIALLY : MAX_CARDS;
      return readChart(
        {
          rootId: root,
          tenant: { id: tenant.id, name: tenant.tenantName || tenant.tenantId },
          day,
          canListUsers,
          levels: levels ?? INITIAL_LEVELS,
          maxCards,
          previous,
        },
        signal,
      );
    },
    placeholderData: keepPreviousData,
    // Refetch when the screen is opened, but not each time the window gets the focus.
    staleTime: 0,
    refetchOnWindowFocus: false,
  });

  /** A refetch that started earlier would overwrite the update, so it is started again. */
  const updateChart = async (update: (chart: ChartData) => ChartData) => {
    const isFetching = queryClient.isFetching({ queryKey }) > 0;
    await queryClient.cancelQueries({ queryKey });
    queryClient.setQueryData<ChartData>(queryKey, (chart) => chart && update(chart));
    if (isFetching) void queryClient.invalidateQueries({ queryKey });
  };

  const loadChildren = async (id: string, parentId: string) => {
    const card = query.data?.cards.get(parentId);
    if (!card || loadingIds.has(id)) return;
    setLoadingIds((previous) => new Set(previous).add(id));
    try {
      await updateChart(await readNextChildren(card, day));
    } catch (error) {
      notify.error(error);
    } finally {
      setLoadingIds((previous) => new Set([...previous].filter((other) => other !== id)));
    }
  };

  /** Expands or collapses a card. A "more" card loads the next children. */
  const toggle = (id: string) => {
    // The previous chart is about to be replaced, and its children may be those of another day.
    if (query.isPlaceholderData) return;
    if (isMoreCard(id)) return loadChildren(id, getMoreParent(id));
    const card = query.data?.cards.get(id);
    if (!card?.hasChildren || card.kind === 'tenant') return;
    if (card.open || card.children) return updateChart((chart) => setOpen(chart, id, !card.open));
    return loadChildren(id, id);
  };

  return { ...query, loadingIds, toggle };
}
