import { flushSync } from 'react-dom';
import { createRoot } from 'react-dom/client';
import { FONT_FAMILY } from '../theme.ts';
import { getToday } from '../ui/day-picker.tsx';
import { saveFile } from '../ui/save-file.ts';
import { CardDrawing, MoreDrawing, PRINT_PALETTE } from './card-drawing.tsx';
import type { ChartData } from './chart-data.ts';
import { createPicturePdf, isTooLarge } from './export-pdf.ts';
import type { Layout } from './layout.ts';
import { measureText } from './measure-text.ts';
import type { Paper } from './pdf.ts';
import type { ChartTexts } from './texts.ts';

/** The expanded part of the chart, whether it is in view or not. */
export interface ExportSource {
  chart: ChartData;
  layout: Layout;
  title: string;
  t: ChartTexts;
}

const MARGIN = 40;
const HEADER_HEIGHT = 84;
/** Double resolution, unless the image gets too large: some browsers support at most 16,384 pixels per side. */
const MAX_SCALE = 2;
const MAX_SIDE_PX = 16_000;
const MAX_AREA_PX = 64_000_000;
const MIN_LEGIBLE_SCALE = 0.4;

/** Replaces characters that file systems or shells do not allow. */
const toFileName = (name: string) => name.replace(/[\\/:*?"<>|\s.]+/g, '-').slice(0, 80);
const getFileName = ({ chart, title, t }: ExportSource) =>
  `${toFileName(title)}-${toFileName(t.title)}-${chart.day ?? getToday()}`;
/** The title of the file in file managers, PDF viewers and browsers. */
const getDocumentTitle = ({ chart, title, t }: ExportSource) =>
  [title, t.title, ...(chart.day ? [t.endOf(chart.day)] : [])].join(' · ');

/** Downloads the chart and returns the file name. */
export function exportSvg(source: ExportSource): string {
  const content = ['<?xml version="1.0" encoding="UTF-8"?>\n', render(source)];
  return save(source, new Blob(content, { type: 'image/svg+xml' }), 'svg');
}

export class ImageTooLargeError extends Error {}
export class ImageError extends Error {}

export async function exportPng(source: ExportSource): Promise<string> {
  const { width, height } = getSize(source);
  const scale = Math.min(MAX_SCALE, MAX_SIDE_PX / Math.max(width, height), Math.sqrt(MAX_AREA_PX / (width * height)));
  if (scale < MIN_LEGIBLE_SCALE) throw new ImageTooLargeError();
  return withImage(source, async (image) => {
    const canvas = document.createElement('canvas');
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round(height * scale);
    canvas.getContext('2d')?.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (!blob) throw new ImageError();
    return save(source, blob, 'png');
  });
}

/** A chart that would be illegible on one sheet is drawn on several. */
export async function exportPdf(source: ExportSource, paper: Paper): Promise<string> {
  const size = getSize(source);
  if (isTooLarge(size, paper)) throw new ImageTooLargeError();
  return withImage(source, async (image) =>
    save(source, await createPicturePdf({ image, ...size, title: getDocumentTitle(source) }, paper), 'pdf'),
  );
}

function save(source: ExportSource, blob: Blob, extension: string): string {
  const file = `${getFileName(source)}.${extension}`;
  saveFile(blob, file);
  return file;
}

async function withImage(source: ExportSource, use: (image: HTMLImageElement) => Promise<string>): Promise<string> {
  const objectUrl = URL.createObjectURL(new Blob([render(source)], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = objectUrl;
    await image.decode();
    return await use(image);
  } catch (error) {
    throw error instanceof DOMException ? new ImageError() : error;
  } finally {
    URL.revokeObjectURL(objectUrl);
  }
}

const getSize = ({ layout, title }: ExportSource) => ({
  width: Math.ceil(Math.max(layout.width, measureText(title, 24, 600), 320) + 2 * MARGIN),
  height: Math.ceil(layout.height + HEADER_HEIGHT + 2 * MARGIN),
});

/** Renders the chart with the components of the screen, so that the file looks the same. */
function render(source: ExportSource): string {
  const container = document.createElement('div');
  const root = createRoot(container);
  flushSync(() => root.render(<Drawing {...source} />));
  const text = new XMLSerializer().serializeToString(container.firstElementChild as Element);
  root.unmount();
  return text;
}

/** The whole chart as it is exported and printed. */
export function Drawing(source: ExportSource) {
  const { chart, layout, title, t } = source;
  const { width, height } = getSize(source);
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} fontFamily={FONT_FAMILY}>
      <title>{getDocumentTitle(source)}</title>
      <rect width={width} height={height} fill={PRINT_PALETTE.containerBg} />
      <text x={MARGIN} y={MARGIN + 24} fontSize={24} fontWeight={600} fill={PRINT_PALETTE.text}>
        {title}
      </text>
      <text x={MARGIN} y={MARGIN + 50} fontSize={14} fill={PRINT_PALETTE.textSecondary}>
        {`${t.title} · ${chart.day ? t.endOf(chart.day) : getToday()}`}
      </text>
      <g transform={`translate(${(width - layout.width) / 2} ${MARGIN + HEADER_HEIGHT})`}>
        <path d={layout.lines} fill="none" stroke={PRINT_PALETTE.line} strokeWidth={1.5} />
        {layout.places.map(({ id, x, y }) => {
          const card = chart.cards.get(id);
          return (
            <g key={id} transform={`translate(${x} ${y})`}>
              {card ? (
                <CardDrawing card={card} palette={PRINT_PALETTE} t={t} exported />
              ) : (
                <MoreDrawing palette={PRINT_PALETTE} t={t} exported />
              )}
            </g>
          );
        })}
      </g>
    </svg>
  );
}
