import { SearchOutlined } from '@ant-design/icons';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Button, Input } from 'antd';
import { type KeyboardEvent, type ReactNode, useEffect, useRef, useState } from 'react';
import { api } from '../api.ts';
import { useTexts } from '../language.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { departmentsTexts } from './texts.ts';

interface Props {
  onPick: (id: number) => void;
  /** Why one cannot be picked. */
  refusalOf?: ((id: number) => string | undefined) | undefined;
  /** The tree, shown while nothing is searched. */
  children: ReactNode;
}

/** What is typed is searched; picking a hit goes back to the tree, with the way to it open. */
export function Search({ onPick, refusalOf, children }: Props) {
  const t = useTexts(departmentsTexts);
  const [typed, setTyped] = useState('');
  const text = useSettled(typed.trim(), 200);
  const area = useRef<HTMLDivElement>(null);
  const pick = (id: number) => {
    setTyped('');
    onPick(id);
  };
  const buttons = () => [...(area.current?.querySelectorAll<HTMLElement>('input, button.departments-hit') ?? [])];
  const keys = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && typed) {
      event.stopPropagation();
      setTyped('');
      buttons()[0]?.focus();
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!step || !typed) return;
    event.preventDefault();
    const all = buttons();
    all[all.indexOf(document.activeElement as HTMLElement) + step]?.focus();
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the arrows go between the field and the buttons in it
    <div ref={area} className="departments-finder" onKeyDown={keys}>
      <Input
        allowClear
        prefix={<SearchOutlined aria-hidden />}
        placeholder={t.search}
        aria-label={t.search}
        maxLength={100}
        value={typed}
        onChange={(event) => setTyped(event.target.value)}
      />
      {typed.trim() && text ? <Hits text={text} pick={pick} refusalOf={refusalOf} /> : children}
    </div>
  );
}

function Hits({ text, pick, refusalOf }: { text: string; pick: (id: number) => void } & Pick<Props, 'refusalOf'>) {
  const t = useTexts(departmentsTexts);
  // With a cursor, so that nothing is counted that nobody looks at.
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery({
    queryKey: ['dept-list', { deptName: text, withPath: true }],
    queryFn: ({ pageParam, signal }) =>
      api.listDepartments({ deptName: text, withPath: true, pageSize: 50, cursor: pageParam }, signal),
    initialPageParam: '',
    getNextPageParam: ({ data }) => ('next' in data && data.next) || undefined,
  });
  if (error) return <Failed error={error} retry={refetch} />;
  if (!data) return <Loading />;
  const hits = data.pages.flatMap(({ data: { rows } }) => rows);
  if (hits.length === 0) return <Empty text={t.noHits(text)} />;
  return (
    <ul className="departments-hits" aria-label={t.searchHits}>
      {hits.map(({ deptId, deptName, pathNames = [] }) => {
        const refusal = refusalOf?.(deptId);
        return (
          <li key={deptId}>
            <button
              type="button"
              className="departments-hit"
              title={refusal}
              disabled={Boolean(refusal)}
              onClick={() => pick(deptId)}
            >
              <span>{marked(deptName, text)}</span>
              {pathNames.length > 0 && <span className="quiet">{pathNames.join(' / ')}</span>}
            </button>
          </li>
        );
      })}
      {hasNextPage && (
        <li>
          <Button type="link" loading={isFetchingNextPage} onClick={() => fetchNextPage()}>
            {t.moreHits}
          </Button>
        </li>
      )}
    </ul>
  );
}

function marked(name: string, text: string): ReactNode {
  const at = name.toLowerCase().indexOf(text.toLowerCase());
  if (at < 0) return name;
  return (
    <>
      {name.slice(0, at)}
      <mark>{name.slice(at, at + text.length)}</mark>
      {name.slice(at + text.length)}
    </>
  );
}

/** What was typed, once the fingers rest. */
function useSettled(value: string, milliseconds: number): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(value), milliseconds);
    return () => clearTimeout(timer);
  }, [value, milliseconds]);
  return settled;
}
