import { CompressOutlined, MinusOutlined, PlusOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { type KeyboardEvent, type MouseEvent, useLayoutEffect, useMemo, useRef } from 'react';
import { useTexts } from '../language.ts';
import { CardDrawing, describeCard, MoreDrawing, SCREEN_PALETTE } from './card-drawing.tsx';
import { type ChartData, getMoreParent, isMoreCard } from './chart-data.ts';
import { getNextCard } from './keyboard.ts';
import { CARD, type Layout, type Place } from './layout.ts';
import { type ChartTexts, chartTexts } from './texts.ts';
import { useViewport } from './use-viewport.ts';
import { findPlaceAt, getVisiblePlaces } from './viewport.ts';

/** With more cards in view they are too small to read, so the others are drawn as plain rectangles. */
const MAX_RENDERED_CARDS = 300;
const PAN_STEP_PX = 80;

interface Props {
  chart: ChartData;
  layout: Layout;
  activeId: string | undefined;
  loadingIds: ReadonlySet<string>;
  onActivate: (id: string | undefined) => void;
  onToggle: (id: string) => void;
  onOpen: (id: string) => void;
}

export function Canvas({ chart, layout, activeId, loadingIds, onActivate, onToggle, onOpen }: Props) {
  const t = useTexts(chartTexts);
  const stage = useRef<HTMLDivElement>(null);
  const anchorId = activeId && !isMoreCard(activeId) && layout.byId.has(activeId) ? activeId : chart.root;
  const { viewport, size, actions, dragging, wasDragged, handlers } = useViewport(
    stage,
    layout,
    chart.requestKey,
    anchorId,
  );
  const { cards, outlines } = useMemo(() => {
    const visible = getVisiblePlaces(layout, viewport, size);
    const cards =
      visible.length > MAX_RENDERED_CARDS ? visible.toSorted(compareLevel).slice(0, MAX_RENDERED_CARDS) : visible;
    const active = activeId ? layout.byId.get(activeId) : undefined;
    if (active && !cards.includes(active)) cards.push(active);
    // Draw the outlines of all cards, so that they look the same when zoomed out.
    return { cards, outlines: visible.length > MAX_RENDERED_CARDS ? visible : [] };
  }, [layout, viewport, size, activeId]);

  // Scroll the children of a card into view after it was expanded.
  const expanding = useRef<{ id: string; firstNew: number }>(undefined);
  const toggle = (id: string) => {
    const parent = isMoreCard(id) ? getMoreParent(id) : id;
    expanding.current = { id: parent, firstNew: isMoreCard(id) ? (chart.cards.get(parent)?.children?.length ?? 0) : 0 };
    onToggle(id);
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once for each change of the layout
  useLayoutEffect(() => {
    const { id = '', firstNew = 0 } = expanding.current ?? {};
    const { open, children = [] } = chart.cards.get(id) ?? {};
    const [parent, firstChild] = [layout.byId.get(id), layout.byId.get(children[firstNew] ?? '')];
    if (!open || !parent || !firstChild) return;
    expanding.current = undefined;
    actions.scrollTo(firstChild);
    if (firstNew > 0) onActivate(firstChild.id);
    else actions.scrollTo(parent);
  }, [layout]);

  const handleClick = (event: MouseEvent) => {
    if (wasDragged.current) return;
    const target = event.target as Element;
    const box = stage.current?.getBoundingClientRect() ?? new DOMRect();
    const point = {
      x: (event.clientX - box.left - viewport.x) / viewport.k,
      y: (event.clientY - box.top - viewport.y) / viewport.k,
    };
    const id =
      target.closest<SVGElement>('[data-card]')?.dataset.card ?? findPlaceAt(layout, point.x, point.y)?.id ?? undefined;
    onActivate(id && !isMoreCard(id) ? id : undefined);
    if (id && (isMoreCard(id) || target.closest('[data-handle]'))) toggle(id);
  };

  const handleKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const key = event.key;
    const panSteps: Record<string, [number, number]> = {
      ArrowLeft: [PAN_STEP_PX, 0],
      ArrowRight: [-PAN_STEP_PX, 0],
      ArrowUp: [0, PAN_STEP_PX],
      ArrowDown: [0, -PAN_STEP_PX],
    };
    const panStep = panSteps[key];
    if (event.shiftKey && panStep) actions.pan(...panStep);
    else if (key === '+' || key === '=') actions.zoomIn();
    else if (key === '-') actions.zoomOut();
    else if (key === '0') actions.fit();
    else if (key === 'Escape' && activeId) onActivate(undefined);
    else if (key === ' ' && activeId) toggle(activeId);
    else if (key === 'Enter' && activeId) isMoreCard(activeId) ? toggle(activeId) : onOpen(activeId);
    else if (panStep || key === 'Home' || key === 'End') {
      const next = activeId || key === 'End' ? getNextCard(layout, chart, activeId ?? chart.root, key) : chart.root;
      if (next === 'open' && activeId) toggle(activeId);
      else if (next) {
        onActivate(next);
        actions.scrollTo(layout.byId.get(next) as Place);
      }
    } else return;
    event.preventDefault();
  };

  // Keyboard users start at the root. A click moves the focus here too, but decides itself which card is active.
  const handleFocus = () => {
    if (!activeId && stage.current?.matches(':focus-visible')) onActivate(chart.root);
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
        aria-activedescendant={activeId && layout.byId.has(activeId) ? `chart-${activeId}` : undefined}
        onKeyDown={handleKeyDown}
        onClick={handleClick}
        onFocus={handleFocus}
        {...handlers}
      >
        <svg role="presentation" width="100%" height="100%">
          <g transform={`translate(${viewport.x} ${viewport.y}) scale(${viewport.k})`}>
            <path className="chart-lines" d={layout.lines} fill="none" />
            {outlines.length > 0 && <path className="chart-outlines" d={outlines.map(toOutline).join('')} />}
            {cards.map((place) => (
              <ChartItem
                key={place.id}
                {...{ place, chart, t }}
                active={place.id === activeId}
                loading={loadingIds.has(place.id)}
              />
            ))}
          </g>
        </svg>
      </div>
      <fieldset className="chart-zoom" aria-label={t.zoom}>
        <Button aria-label={t.zoomIn} title={t.zoomIn} icon={<PlusOutlined />} onClick={actions.zoomIn} />
        <output className="chart-percent">{t.zoomPercent(Math.round(viewport.k * 100))}</output>
        <Button aria-label={t.zoomOut} title={t.zoomOut} icon={<MinusOutlined />} onClick={actions.zoomOut} />
        <Button aria-label={t.fit} title={t.fit} icon={<CompressOutlined />} onClick={actions.fit} />
      </fieldset>
    </>
  );
}

const compareLevel = (a: Place, b: Place) => a.level - b.level;
const toOutline = ({ x, y }: Place) => `M${x} ${y}h${CARD.width}v${CARD.height}h${-CARD.width}z`;

interface ChartItemProps {
  place: Place;
  chart: ChartData;
  t: ChartTexts;
  active: boolean;
  loading: boolean;
}

function ChartItem({ place, chart, t, active, loading }: ChartItemProps) {
  const { id, x, y, level, position, siblings } = place;
  const card = chart.cards.get(id);
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
      {...(loading ? { 'aria-busy': true } : {})}
    >
      <title>{card ? describeCard(card, t) : t.more}</title>
      {card ? (
        <CardDrawing {...{ card, t, active, loading }} palette={SCREEN_PALETTE} />
      ) : (
        <MoreDrawing {...{ t, active, loading }} palette={SCREEN_PALETTE} />
      )}
    </g>
  );
}
