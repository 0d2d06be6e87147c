import { useQuery } from '@tanstack/react-query';
import { queryKeys } from '../query-keys.ts';

/** The names of menus by id, as configured for this installation (BANYAN_MENU_NAMES). Without one, a menu is shown by its id. */
export function useMenuNames(): Readonly<Record<string, string>> {
  const { data } = useQuery({
    queryKey: queryKeys.menuNames,
    queryFn: async ({ signal }): Promise<Record<string, string>> => {
      // biome-ignore lint/style/noRestrictedGlobals: a public file of the console, not an operation of the service
      const response = await fetch('/menus.json', { signal });
      return response.ok ? response.json() : {};
    },
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  return data ?? {};
}
