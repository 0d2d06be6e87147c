import { createPdf, PAPER, type Paper, type PdfPage } from './pdf.ts';

const MARGIN_PT = 28;
/** Smaller text cannot be read on paper: 13 pixels are about 5 points. A larger chart takes several pages. */
const MIN_POINTS_PER_PIXEL = 0.4;
/** About 220 dots per inch. */
const PIXELS_PER_POINT = 3;
const MAX_PAGES = 40;
const JPEG_QUALITY = 0.9;

interface Size {
  width: number;
  height: number;
}

interface Picture extends Size {
  image: HTMLImageElement;
  title: string;
}

/** How a picture is divided: it is on one sheet if it is legible there, otherwise on as many as needed. */
function getTiles({ width, height }: Size, paper: Paper) {
  const room = { width: PAPER[paper].width - 2 * MARGIN_PT, height: PAPER[paper].height - 2 * MARGIN_PT };
  const fitting = Math.min(room.width / width, room.height / height, 1);
  const scale = Math.max(fitting, MIN_POINTS_PER_PIXEL);
  const [tileWidth, tileHeight] = [room.width / scale, room.height / scale];
  // Rounding errors must not add an empty page.
  const columns = Math.max(1, Math.ceil(width / tileWidth - 0.001));
  const rows = Math.max(1, Math.ceil(height / tileHeight - 0.001));
  return { room, scale, tileWidth, tileHeight, columns, rows };
}

/** Whether a picture of this size needs too many pages. */
export function isTooLarge(size: Size, paper: Paper): boolean {
  const { columns, rows } = getTiles(size, paper);
  return columns * rows > MAX_PAGES;
}

export async function createPicturePdf({ image, width, height, title }: Picture, paper: Paper): Promise<Blob> {
  const { room, scale, tileWidth, tileHeight, columns, rows } = getTiles({ width, height }, paper);
  const pages: PdfPage[] = [];
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const [left, top] = [column * tileWidth, row * tileHeight];
      const part = { width: Math.min(tileWidth, width - left), height: Math.min(tileHeight, height - top) };
      const { jpeg, ...size } = await drawPart(image, { left, top, ...part }, scale * PIXELS_PER_POINT);
      const shown = { width: part.width * scale, height: part.height * scale };
      // A chart that is one sheet wide is centered horizontally; the parts of a wider one start at the left margin.
      const x = MARGIN_PT + (columns === 1 ? (room.width - shown.width) / 2 : 0);
      pages.push({ jpeg, ...size, x, y: PAPER[paper].height - MARGIN_PT - shown.height, ...shown });
    }
  }
  return createPdf(pages, paper, title);
}

interface Part extends Size {
  left: number;
  top: number;
}

async function drawPart(image: HTMLImageElement, { left, top, width, height }: Part, scale: number) {
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d');
  if (!context) throw new Error('The browser could not create a canvas context.');
  // JPEG has no transparency.
  context.fillStyle = '#ffffff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.setTransform(scale, 0, 0, scale, -left * scale, -top * scale);
  context.drawImage(image, 0, 0);
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/jpeg', JPEG_QUALITY));
  if (!blob) throw new Error('The browser could not encode the picture.');
  return { jpeg: new Uint8Array(await blob.arrayBuffer()), imageWidth: canvas.width, imageHeight: canvas.height };
}
