/** Sizes in points, landscape. */
export const PAPER = { A4: { width: 841.89, height: 595.28 }, A3: { width: 1190.55, height: 841.89 } } as const;
export type Paper = keyof typeof PAPER;

/** A page of a PDF file that shows one picture. */
export interface PdfPage {
  jpeg: Uint8Array;
  /** In pixels. */
  imageWidth: number;
  imageHeight: number;
  /** Where the picture is on the page, in points from the lower left corner. */
  x: number;
  y: number;
  width: number;
  height: number;
}

/** Writes a PDF file with one picture on each page (ISO 32000-1). JPEG needs no other encoding inside PDF. */
export function createPdf(pages: readonly PdfPage[], paper: Paper, title: string): Blob {
  const encoder = new TextEncoder();
  const parts: Uint8Array[] = [];
  const offsets: number[] = [];
  let length = 0;
  const add = (part: string | Uint8Array) => {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part;
    parts.push(bytes);
    length += bytes.length;
  };
  const addObject = (...content: (string | Uint8Array)[]) => {
    offsets.push(length);
    add(`${offsets.length} 0 obj\n`);
    for (const part of content) add(part);
    add('\nendobj\n');
  };
  const addStream = (dictionary: string, content: string | Uint8Array) =>
    addObject(`<< ${dictionary} /Length ${content.length} >>\nstream\n`, content, '\nendstream');
  const { width, height } = PAPER[paper];
  // Objects 1 to 3 are catalog, page list and title; each page has three more: itself, its content and its picture.
  const pageIds = pages.map((_, index) => 4 + 3 * index);
  add('%PDF-1.4\n');
  addObject('<< /Type /Catalog /Pages 2 0 R >>');
  addObject(`<< /Type /Pages /Count ${pages.length} /Kids [${pageIds.map((id) => `${id} 0 R`).join(' ')}] >>`);
  addObject(`<< /Title ${toPdfText(title)} >>`);
  for (const [index, page] of pages.entries()) {
    const id = pageIds[index] as number;
    addObject(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${id + 1} 0 R ` +
        `/Resources << /XObject << /Picture ${id + 2} 0 R >> >> >>`,
    );
    addStream('', `${page.width} 0 0 ${page.height} ${page.x} ${page.y} cm /Picture Do`);
    addStream(
      `/Type /XObject /Subtype /Image /Width ${page.imageWidth} /Height ${page.imageHeight} ` +
        '/ColorSpace /DeviceRGB /BitsPerComponent 8 /Filter /DCTDecode',
      page.jpeg,
    );
  }
  const start = length;
  const entries = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  add(`xref\n0 ${offsets.length + 1}\n0000000000 65535 f \n${entries}`);
  add(`trailer\n<< /Size ${offsets.length + 1} /Root 1 0 R /Info 3 0 R >>\nstartxref\n${start}\n%%EOF\n`);
  return new Blob(parts as BlobPart[], { type: 'application/pdf' });
}

/** Text strings of PDF are UTF-16 with a byte order mark, here as hexadecimal digits. */
const toPdfText = (text: string) =>
  `<feff${Array.from({ length: text.length }, (_, n) => text.charCodeAt(n).toString(16).padStart(4, '0')).join('')}>`;
