import type { ChartData } from './chart-data.ts';
import type { Layout, Place } from './layout.ts';

/**
 * The card that a key leads to: up to the parent, down to the first child, sideways along the level. In a column of stacked
 * cards, up and down lead to the neighbours. Returns 'open' if the children are not shown yet.
 */
export function getNextCard(layout: Layout, chart: ChartData, id: string, key: string): string | 'open' | undefined {
  const place = layout.byId.get(id);
  if (!place) return layout.places[0]?.id;
  switch (key) {
    case 'ArrowDown':
      return getCardBelow(layout, chart, place);
    case 'ArrowUp':
      return place.above ?? place.parent;
    case 'ArrowLeft':
      return getNeighbour(layout, place, -1);
    case 'ArrowRight':
      return getNeighbour(layout, place, 1);
    case 'Home':
      return layout.places[0]?.id;
    case 'End':
      return layout.places.at(-1)?.id;
  }
  return undefined;
}

function getCardBelow(layout: Layout, { cards }: ChartData, { id, below }: Place) {
  const card = cards.get(id);
  if (card?.open) return layout.places[layout.places.findIndex((place) => place.id === id) + 1]?.id;
  return below ?? (card?.hasChildren ? 'open' : undefined);
}

function getNeighbour({ places }: Layout, place: Place, direction: 1 | -1): string | undefined {
  const level = places.filter((other) => other.level === place.level);
  return level[level.indexOf(place) + direction]?.id;
}
