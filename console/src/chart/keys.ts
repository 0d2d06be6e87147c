import type { Layout, Place } from './layout.ts';
import type { Picture } from './picture.ts';

/**
 * Where an arrow leads, as the picture lies: down to what is below, up to what is above, and sideways along the level.
 * 'open' when there is something below that is not shown yet.
 */
export function step(layout: Layout, picture: Picture, id: string, key: string): string | 'open' | undefined {
  const place = layout.byId.get(id);
  if (!place) return layout.places[0]?.id;
  switch (key) {
    case 'ArrowDown':
      return down(layout, picture, place);
    case 'ArrowUp':
      return place.above ?? place.parent;
    case 'ArrowLeft':
      return alongLevel(layout, place, -1);
    case 'ArrowRight':
      return alongLevel(layout, place, 1);
    case 'Home':
      return layout.places[0]?.id;
    case 'End':
      return layout.places.at(-1)?.id;
  }
  return undefined;
}

function down(layout: Layout, { cards }: Picture, { id, below }: Place) {
  const card = cards.get(id);
  if (card?.open) return layout.places[layout.places.findIndex((place) => place.id === id) + 1]?.id;
  return below ?? (card?.hasChildren ? 'open' : undefined);
}

function alongLevel({ places }: Layout, place: Place, direction: 1 | -1): string | undefined {
  const level = places.filter((other) => other.level === place.level);
  return level[level.indexOf(place) + direction]?.id;
}
