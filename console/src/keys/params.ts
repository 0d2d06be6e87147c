import { useUrlParams } from '../ui/use-url-params.ts';

/** The state of the screen that is kept in the URL. */
export interface KeysParams {
  q: string;
  status: '0' | '1' | null;
  /** The key whose form is open. */
  key: 'new' | number | null;
}

export function useKeysParams(): [KeysParams, (changes: Partial<KeysParams>, options?: { replace?: boolean }) => void] {
  const [search, update] = useUrlParams();
  const [status, key] = [search.get('status'), search.get('key')];
  const params: KeysParams = {
    q: search.get('q') ?? '',
    status: status === '0' || status === '1' ? status : null,
    key: key === 'new' ? key : key && /^\d{1,15}$/.test(key) ? Number(key) : null,
  };
  return [params, update];
}
