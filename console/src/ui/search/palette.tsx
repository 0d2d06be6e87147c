import { ApartmentOutlined, BankOutlined, CloseOutlined, SearchOutlined, UserOutlined } from '@ant-design/icons';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { type KeyboardEvent, type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { useNavigate } from 'react-router';
import { api, type SearchHit } from '../../api.ts';
import { useTexts } from '../../language.ts';
import { queryKeys } from '../../query-keys.ts';
import { useIsAdministrator } from '../../session.ts';
import { useDebouncedValue } from '../use-debounced-value.ts';
import { findCommands, useCommands } from './commands.tsx';
import { searchOpen } from './open-search.ts';
import { useRecentHits } from './recent.ts';
import './search.css';
import { searchTexts } from './texts.ts';

const DELAY_MS = 120;
const MAX_TEXT = 100;
const MAX_HITS_PER_KIND = 6;

/** One line of the results. */
interface Item {
  key: string;
  label: string;
  icon: ReactNode;
  detail?: string;
  note?: string;
  /** Whether the service has found it. */
  isHit?: true;
  run: () => void;
}
interface Group {
  title: string;
  items: Item[];
}

const paths: Record<SearchHit['kind'], string> = { user: '/people', department: '/departments', tenant: '/tenants' };
const icons = { user: <UserOutlined />, department: <ApartmentOutlined />, tenant: <BankOutlined /> };

/** The search for people, departments, tenants, screens and actions. */
export default function Palette() {
  const t = useTexts(searchTexts);
  const administrator = useIsAdministrator();
  const dialog = useRef<HTMLDialogElement>(null);
  const listId = useId();
  const [text, setText] = useState('');
  const { groups, isFetching, isCurrent, error } = useResults(text);
  const items = groups.flatMap((group) => group.items);
  const [activeKey, setActiveKey] = useState<string>();
  const activeIndex = Math.max(
    items.findIndex(({ key }) => key === activeKey),
    0,
  );
  const active = items[activeIndex];
  const optionId = (item: Item) => `${listId}-${item.key}`;

  useEffect(() => dialog.current?.showModal(), []);
  useEffect(() => {
    if (activeKey) document.getElementById(`${listId}-${activeKey}`)?.scrollIntoView({ block: 'nearest' });
  }, [activeKey, listId]);

  const close = () => dialog.current?.close();
  const choose = (item: Item) => {
    // Close first: a closing dialog returns the focus, and the screen that opens may want it.
    close();
    item.run();
  };
  // People type and press Enter at once. That must not open a result of the previous text.
  const [isEntered, setIsEntered] = useState(false);
  const chooseWhenCurrent = (item: Item) => (isCurrent || !item.isHit ? choose(item) : setIsEntered(true));
  // biome-ignore lint/correctness/useExhaustiveDependencies: only new results complete a press of Enter
  useEffect(() => {
    if (!isEntered || !isCurrent) return;
    setIsEntered(false);
    if (active) choose(active);
  }, [isEntered, isCurrent]);
  const handleKeyDown = (event: KeyboardEvent) => {
    // The keys belong to an input method while it shows its candidates.
    if (event.nativeEvent.isComposing) return;
    if (items.length === 0) {
      // Keep an Enter that is pressed before the first results arrive.
      if (event.key === 'Enter' && !event.repeat && !isCurrent) setIsEntered(true);
      return;
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) setActiveKey(items[(activeIndex + step + items.length) % items.length]?.key);
    else if (event.key === 'Enter' && active && !event.repeat) chooseWhenCurrent(active);
    else return;
    event.preventDefault();
  };
  const isEmpty = text.trim() !== '' && items.length === 0 && isCurrent;
  return (
    <dialog
      ref={dialog}
      className="search"
      aria-label={t.title}
      onClose={() => searchOpen.set(false)}
      // A click on the backdrop is one on the dialog itself.
      onMouseDown={(event) => event.target === dialog.current && close()}
    >
      <div className="search-field">
        <SearchOutlined />
        <input
          autoFocus
          role="combobox"
          aria-label={t.title}
          aria-autocomplete="list"
          aria-expanded={items.length > 0}
          aria-controls={listId}
          aria-activedescendant={active && optionId(active)}
          placeholder={administrator ? t.placeholder : t.memberPlaceholder}
          maxLength={MAX_TEXT}
          autoComplete="off"
          spellCheck={false}
          value={text}
          onChange={(event) => {
            setText(event.target.value);
            setActiveKey(undefined);
            setIsEntered(false);
          }}
          onKeyDown={handleKeyDown}
        />
        <button type="button" aria-label={t.close} onClick={close}>
          <CloseOutlined />
        </button>
      </div>
      <div
        id={listId}
        role="listbox"
        aria-label={t.results}
        tabIndex={-1}
        className="search-results"
        aria-busy={isFetching}
        hidden={items.length === 0}
      >
        {groups.map(({ title, items }) => (
          // biome-ignore lint/a11y/useSemanticElements: a group of options
          <div key={title} role="group" aria-label={title}>
            <div className="search-heading" aria-hidden="true">
              {title}
            </div>
            {items.map((item) => (
              // biome-ignore lint/a11y/useKeyWithClickEvents: the text field has the focus and handles the keys
              // biome-ignore lint/a11y/useFocusableInteractive: the same
              <div
                key={item.key}
                id={optionId(item)}
                role="option"
                aria-selected={item === active}
                className="search-item"
                onMouseMove={() => item !== active && setActiveKey(item.key)}
                onClick={() => choose(item)}
              >
                {item.icon}
                <span className="search-name">{item.label}</span>
                {item.note && <span className="search-note">{item.note}</span>}
                {item.detail && (
                  <span className="search-detail" title={item.detail}>
                    {item.detail}
                  </span>
                )}
              </div>
            ))}
          </div>
        ))}
      </div>
      <p className="search-status" role="status">
        {error ? t.failed : isEmpty ? t.nothing(text.trim()) : isCurrent && text.trim() ? t.count(items.length) : ''}
      </p>
      <p className={text.trim() && !isEmpty ? 'search-hint search-keys' : 'search-hint'}>
        {text.trim() && !isEmpty ? t.keys : t.hint}
      </p>
    </dialog>
  );
}

/** The results for a text: commands at once, and what the service finds for it. */
function useResults(text: string) {
  const t = useTexts(searchTexts);
  const navigate = useNavigate();
  const recent = useRecentHits();
  const commands = findCommands(useCommands(), text);
  const trimmed = text.trim();
  const q = useDebouncedValue(trimmed, DELAY_MS);
  const { data, isFetching, error } = useQuery({
    queryKey: queryKeys.search(q),
    queryFn: ({ signal }) => api.search({ q, limit: MAX_HITS_PER_KIND }, signal),
    enabled: q !== '',
    // Until the next results arrive, the list stays as it is.
    placeholderData: keepPreviousData,
    staleTime: 0,
    gcTime: 0,
  });
  const toItem = (hit: SearchHit): Item => ({
    key: `${hit.kind}-${hit.id}`,
    label: hit.name,
    icon: icons[hit.kind],
    isHit: true,
    detail: [
      hit.path.join(' / '),
      hit.position,
      hit.matched === 'phone' ? hit.phone : '',
      hit.kind === 'tenant' ? hit.code : '',
    ]
      .filter(Boolean)
      .join(' · '),
    ...(hit.status === '1' ? { note: t.disabled } : {}),
    run: () => {
      recent.add(hit);
      void navigate(`${paths[hit.kind]}/${hit.id}`);
    },
  });
  const hits = trimmed === '' ? [] : (data?.data ?? []);
  const groups: Group[] = [
    { title: t.recent, items: trimmed === '' ? recent.read().map(toItem) : [] },
    // The kind with the best match comes first.
    ...[...new Set(hits.map(({ kind }) => kind))].map((kind) => ({
      title: t[kind],
      items: hits.filter((hit) => hit.kind === kind).map(toItem),
    })),
    ...(['screen', 'action'] as const).map((group) => ({
      title: t[group],
      items: commands.filter((each) => each.group === group),
    })),
  ];
  return {
    groups: groups.filter(({ items }) => items.length > 0),
    isFetching,
    isCurrent: !isFetching && q === trimmed,
    error,
  };
}
