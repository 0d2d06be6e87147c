import { SearchOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { Suspense, useEffect } from 'react';
import { useTexts } from '../../language.ts';
import { lazyComponent } from '../../lazy-component.ts';
import { useStore } from '../../store.ts';
import { searchOpen } from './open-search.ts';
import './search-button.css';
import { searchTexts } from './texts.ts';

const Palette = lazyComponent(() => import('./palette.tsx'));
const isMac = /Mac|iPhone|iPad/.test(navigator.userAgent);
const shortcut = isMac ? '⌘K' : 'Ctrl K';

/** The button in the header that opens the search, and its shortcut: ⌘K, or Ctrl+K. */
export function SearchButton() {
  const t = useTexts(searchTexts);
  const open = useStore(searchOpen);
  useEffect(() => {
    const handleKeyDown = (event: KeyboardEvent) => {
      const isShortcut = event.key.toLowerCase() === 'k' && (isMac ? event.metaKey : event.ctrlKey);
      if (!isShortcut || event.shiftKey || event.altKey || event.isComposing) return;
      // Browsers would focus their address bar.
      event.preventDefault();
      if (!event.repeat) searchOpen.set(!searchOpen.get());
    };
    window.addEventListener('keydown', handleKeyDown);
    return () => {
      window.removeEventListener('keydown', handleKeyDown);
      searchOpen.set(false);
    };
  }, []);
  return (
    <>
      <Button
        className="search-button"
        icon={<SearchOutlined />}
        aria-label={`${t.search} ${shortcut}`}
        aria-haspopup="dialog"
        aria-keyshortcuts={isMac ? 'Meta+K' : 'Control+K'}
        onClick={() => searchOpen.set(true)}
      >
        <span className="search-button-text">{t.search}</span> <kbd className="search-button-text">{shortcut}</kbd>
      </Button>
      {open && (
        <Suspense fallback={null}>
          <Palette />
        </Suspense>
      )}
    </>
  );
}
