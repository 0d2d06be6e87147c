import { useEffect, useState } from 'react';
import { useDebouncedValue } from './use-debounced-value.ts';

/**
 * The text of a search field whose value is kept in the URL. Typing updates the URL after `delayMs`; a navigation,
 * such as Back, updates the field.
 */
export function useSearchText(urlText: string, setUrlText: (text: string) => void, delayMs = 250) {
  const [text, setText] = useState(urlText);
  const debounced = useDebouncedValue(text.trim(), delayMs);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only typing may write the URL
  useEffect(() => {
    if (debounced !== urlText) setUrlText(debounced);
  }, [debounced]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: only a navigation may overwrite the field
  useEffect(() => {
    if (urlText !== debounced) setText(urlText);
  }, [urlText]);
  return [text, setText] as const;
}
