import { CompressOutlined, MinusOutlined, PlusOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useMemo, useRef } from 'react';
import { useTexts } from '../language.ts';
import { CardDrawing, MoreDrawing, SCREEN, saidOf } from './card.tsx';
import { step } from './keys.ts';
import { CARD, type Layout, type Place } from './layout.ts';
import { isMore, ofMore, type Picture } from './picture.ts';
import { type ChartTexts, chartTexts } from './texts.ts';
import { useView } from './use-view.ts';
import { inView, placeAt } from './view.ts';

/** More are never in the page. Seen from so far that more are in view, nobody can read them: a shade is enough. */
const CARDS_IN_PAGE = 300;
const PAN = 80;

interface Props {
  picture: Picture;
  layout: Layout;
  active: string | undefined;
  busy: ReadonlySet<string>;
  activate: (id: string | undefined) => void;
  toggle: (id: string) => void;
  openDept: (id: string) => void;
}

export function Canvas({ picture, layout, active, busy, activate, toggle, openDept }: Props) {
  const t = useTexts(chartTexts);
  const stage = useRef<HTMLDivElement>(null);
  const anchor = active && !isMore(active) && layout.byId.has(active) ? active : picture.root;
  const { view, size, actions, dragging, dragged, handlers } = useView(stage, layout, picture.wish, anchor);
  const { cards, shades } = useMemo(() => {
    const seen = inView(layout, view, size);
    const cards = seen.length > CARDS_IN_PAGE ? seen.toSorted(byLevel).slice(0, CARDS_IN_PAGE) : seen;
    const own = active ? layout.byId.get(active) : undefined;
    if (own && !cards.includes(own)) cards.push(own);
    // Beneath all of them, so that from afar all look the same.
    return { cards, shades: seen.length > CARDS_IN_PAGE ? seen : [] };
  }, [layout, view, size, active]);

  // What was just opened is to be seen, as far as there is room.
  const opening = useRef<{ id: string; from: number }>(undefined);
  const openOrClose = (id: string) => {
    const parent = isMore(id) ? ofMore(id) : id;
    opening.current = { id: parent, from: isMore(id) ? (picture.cards.get(parent)?.children?.length ?? 0) : 0 };
    toggle(id);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each change of the picture
  useLayoutEffect(() => {
    const { id = '', from = 0 } = opening.current ?? {};
    const { open, children = [] } = picture.cards.get(id) ?? {};
    const [own, first] = [layout.byId.get(id), layout.byId.get(children[from] ?? '')];
    if (!open || !own || !first) return;
    opening.current = undefined;
    actions.show(first);
    if (from > 0) activate(first.id);
    else actions.show(own);
  }, [layout]);

  const click = (event: MouseEvent) => {
    if (dragged.current) return;
    const target = event.target as Element;
    const box = stage.current?.getBoundingClientRect() ?? new DOMRect();
    const point = { x: (event.clientX - box.left - view.x) / view.k, y: (event.clientY - box.top - view.y) / view.k };
    const id =
      target.closest<SVGElement>('[data-card]')?.dataset.card ?? placeAt(layout, point.x, point.y)?.id ?? undefined;
    activate(id && !isMore(id) ? id : undefined);
    if (id && (isMore(id) || target.closest('[data-handle]'))) openOrClose(id);
  };

  const press = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const key = event.key;
    const pans: Record<string, [number, number]> = {
      ArrowLeft: [PAN, 0],
      ArrowRight: [-PAN, 0],
      ArrowUp: [0, PAN],
      ArrowDown: [0, -PAN],
    };
    const pan = pans[key];
    if (event.shiftKey && pan) actions.pan(...pan);
    else if (key === '+' || key === '=') actions.zoomIn();
    else if (key === '-') actions.zoomOut();
    else if (key === '0') actions.fit();
    else if (key === 'Escape' && active) activate(undefined);
    else if (key === ' ' && active) openOrClose(active);
    else if (key === 'Enter' && active) isMore(active) ? openOrClose(active) : openDept(active);
    else if (pan || key === 'Home' || key === 'End') {
      const next = active || key === 'End' ? step(layout, picture, active ?? picture.root, key) : picture.root;
      if (next === 'open' && active) openOrClose(active);
      else if (next) {
        activate(next);
        actions.show(layout.byId.get(next) as Place);
      }
    } else return;
    event.preventDefault();
  };

  // Who comes by keyboard begins somewhere; a click has chosen already.
  const focus = () => {
    if (!active && stage.current?.matches(':focus-visible')) activate(picture.root);
  };

  return (
    <>
      <div
        ref={stage}
        className={dragging ? 'chart-canvas chart-dragging' : 'chart-canvas'}
        role="tree"
        aria-label={t.tree}
        aria-orientation="horizontal"
        tabIndex={0}
        aria-activedescendant={active && layout.byId.has(active) ? `chart-${active}` : undefined}
        onKeyDown={press}
        onClick={click}
        onFocus={focus}
        {...handlers}
      >
        <svg role="presentation" width="100%" height="100%">
          <g transform={`translate(${view.x} ${view.y}) scale(${view.k})`}>
            <path className="chart-lines" d={layout.lines} fill="none" />
            {shades.length > 0 && <path className="chart-shades" d={shades.map(shade).join('')} />}
            {cards.map((place) => (
              <Item key={place.id} {...{ place, picture, t }} active={place.id === active} busy={busy.has(place.id)} />
            ))}
          </g>
        </svg>
      </div>
      <fieldset className="chart-zoom" aria-label={t.zoom}>
        <Button aria-label={t.zoomIn} title={t.zoomIn} icon={<PlusOutlined />} onClick={actions.zoomIn} />
        <output className="chart-percent">{t.zoomed(Math.round(view.k * 100))}</output>
        <Button aria-label={t.zoomOut} title={t.zoomOut} icon={<MinusOutlined />} onClick={actions.zoomOut} />
        <Button aria-label={t.fit} title={t.fit} icon={<CompressOutlined />} onClick={actions.fit} />
      </fieldset>
    </>
  );
}

const byLevel = (a: Place, b: Place) => a.level - b.level;
const shade = ({ x, y }: Place) => `M${x} ${y}h${CARD.width}v${CARD.height}h${-CARD.width}z`;

interface ItemProps {
  place: Place;
  picture: Picture;
  t: ChartTexts;
  active: boolean;
  busy: boolean;
}

function Item({ place, picture, t, active, busy }: ItemProps) {
  const { id, x, y, level, position, siblings } = place;
  const card = picture.cards.get(id);
  return (
    <g
      id={`chart-${id}`}
      data-card={id}
      transform={`translate(${x} ${y})`}
      role="treeitem"
      aria-level={level}
      aria-posinset={position}
      aria-setsize={siblings}
      aria-selected={active}
      {...(card?.hasChildren ? { 'aria-expanded': card.open } : {})}
      {...(busy ? { 'aria-busy': true } : {})}
    >
      <title>{card ? saidOf(card, t) : t.more}</title>
      {card ? (
        <CardDrawing {...{ card, t, active, busy }} palette={SCREEN} />
      ) : (
        <MoreDrawing {...{ t, active, busy }} palette={SCREEN} />
      )}
    </g>
  );
}
