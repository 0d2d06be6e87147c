import dayjs from 'dayjs';
import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { CardDrawing, MoreDrawing, PAPER } from './card.tsx';
import type { Layout } from './layout.ts';
import { FONT, widthOf } from './measure.ts';
import type { Picture } from './picture.ts';
import type { ChartTexts } from './texts.ts';

/** What is open in the picture, whether it is in view or not, as a file that stands alone. */
export interface Sheet {
  picture: Picture;
  layout: Layout;
  title: string;
  t: ChartTexts;
}

const EDGE = 40;
const HEAD = 84;
/** Twice as sharp as the screen, unless that is more than browsers draw (some stop at 16,384 pixels a side). */
const SHARPNESS = 2;
const LONGEST = 16_000;
const LARGEST = 64_000_000;
const LEGIBLE = 0.4;

const today = () => dayjs().format('YYYY-MM-DD');
/** What file systems and shells take amiss. */
const safe = (name: string) => name.replace(/[\\/:*?"<>|\s.]+/g, '-').slice(0, 80);
const nameOf = ({ title, t }: Sheet) => `${safe(title)}-${safe(t.title)}-${today()}`;

/** Tells the file's name. */
export function saveSvg(sheet: Sheet): string {
  const { text } = draw(sheet);
  const file = `${nameOf(sheet)}.svg`;
  download(new Blob(['<?xml version="1.0" encoding="UTF-8"?>\n', text], { type: 'image/svg+xml' }), file);
  return file;
}

export class TooLarge extends Error {}
export class NotDrawn extends Error {}

export async function savePng(sheet: Sheet): Promise<string> {
  const { text, width, height } = draw(sheet);
  const scale = Math.min(SHARPNESS, LONGEST / Math.max(width, height), Math.sqrt(LARGEST / (width * height)));
  if (scale < LEGIBLE) throw new TooLarge();
  const address = URL.createObjectURL(new Blob([text], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (!blob) throw new NotDrawn();
    const file = `${nameOf(sheet)}.png`;
    download(blob, file);
    return file;
  } catch (error) {
    throw error instanceof DOMException ? new NotDrawn() : error;
  } finally {
    URL.revokeObjectURL(address);
  }
}

function download(blob: Blob, file: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = file;
  link.click();
  // The browser has begun by then.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** By React too, outside of the page: then the file looks as the screen does. */
function draw(sheet: Sheet) {
  const width = Math.ceil(Math.max(sheet.layout.width, widthOf(sheet.title, 24, 600), 320) + 2 * EDGE);
  const height = Math.ceil(sheet.layout.height + HEAD + 2 * EDGE);
  const place = document.createElement('div');
  const root = createRoot(place);
  flushSync(() => root.render(<Drawing {...sheet} width={width} height={height} />));
  const text = new XMLSerializer().serializeToString(place.firstElementChild as Element);
  root.unmount();
  return { text, width, height };
}

function Drawing({ picture, layout, title, t, width, height }: Sheet & { width: number; height: number }) {
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} fontFamily={FONT}>
      <title>{`${title} · ${t.title}`}</title>
      <rect width={width} height={height} fill={PAPER.surface} />
      <text x={EDGE} y={EDGE + 24} fontSize={24} fontWeight={600} fill={PAPER.text}>
        {title}
      </text>
      <text x={EDGE} y={EDGE + 50} fontSize={14} fill={PAPER.quiet}>
        {`${t.title} · ${today()}`}
      </text>
      <g transform={`translate(${(width - layout.width) / 2} ${EDGE + HEAD})`}>
        <path d={layout.lines} fill="none" stroke={PAPER.edge} strokeWidth={1.5} />
        {layout.places.map(({ id, x, y }) => {
          const card = picture.cards.get(id);
          return (
            <g key={id} transform={`translate(${x} ${y})`}>
              {card ? <CardDrawing card={card} palette={PAPER} t={t} paper /> : <MoreDrawing palette={PAPER} t={t} />}
            </g>
          );
        })}
      </g>
    </svg>
  );
}
