import type { SearchHit } from '../../api.ts';
import { DRAFT_PREFIX, useMe } from '../../session.ts';
import { readStorage, writeStorage } from '../../store.ts';

const MAX_RECENT = 6;

/** The hits that the user has opened in this tab, the last one first. They are discarded on logout, like drafts. */
export function useRecentHits() {
  const { user } = useMe();
  const key = `${DRAFT_PREFIX}${user.tenantId}.${user.userId}.recent-hits`;
  const read = (): SearchHit[] => JSON.parse(readStorage(key, 'sessionStorage') ?? '[]');
  const add = (hit: SearchHit) => {
    const others = read().filter(({ kind, id }) => kind !== hit.kind || id !== hit.id);
    writeStorage(key, JSON.stringify([hit, ...others].slice(0, MAX_RECENT)), 'sessionStorage');
  };
  return { read, add };
}
