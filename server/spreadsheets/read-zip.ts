import { ReadError } from './read-error.ts';

/** The bytes that all files of an xlsx file may have together once they are unpacked. 100,000 rows need about 80 MB. */
const MAX_UNPACKED = 209_715_200;
/** A workbook has a file for each sheet, image and chart. */
const MAX_ENTRIES = 2_000;

const END_OF_DIRECTORY = 0x06054b50;
const DIRECTORY_ENTRY = 0x02014b50;
const STORED = 0;
const DEFLATED = 8;
const HAS_DATA_DESCRIPTOR = 0x08;

/**
 * Throws unless the sizes in the directory of a zip file are within the limits. The library stops inflating an entry at the size
 * that the directory states, so an entry whose size is not stated there is rejected: it would not be bounded.
 */
export function assertBoundedZip(bytes: Uint8Array): void {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEndOfDirectory(view);
  const entries = view.getUint16(end + 10, true);
  let position = view.getUint32(end + 16, true);
  // Zip64 has other fields for these, and no workbook within the limits needs it.
  if (entries > MAX_ENTRIES || position === 0xffffffff) throw new ReadError('unpacked');
  let unpacked = 0;
  for (let n = 0; n < entries; n++) {
    if (position + 46 > bytes.length || view.getUint32(position, true) !== DIRECTORY_ENTRY)
      throw new ReadError('damaged');
    const flags = view.getUint16(position + 8, true);
    const method = view.getUint16(position + 10, true);
    const packedSize = view.getUint32(position + 20, true);
    const size = view.getUint32(position + 24, true);
    if (method !== STORED && method !== DEFLATED) throw new ReadError('damaged');
    if (size === 0 && packedSize > 2) throw new ReadError('damaged');
    if (packedSize === 0 && (flags & HAS_DATA_DESCRIPTOR) !== 0) throw new ReadError('damaged');
    unpacked += Math.max(size, packedSize);
    if (unpacked > MAX_UNPACKED) throw new ReadError('unpacked');
    position +=
      46 +
      view.getUint16(position + 28, true) +
      view.getUint16(position + 30, true) +
      view.getUint16(position + 32, true);
  }
}

/** The record at the end of the file, which a comment of up to 65,535 bytes may follow. */
function findEndOfDirectory(view: DataView): number {
  const first = Math.max(0, view.byteLength - 65_557);
  for (let at = view.byteLength - 22; at >= first; at--) {
    if (view.getUint32(at, true) === END_OF_DIRECTORY) return at;
  }
  throw new ReadError('damaged');
}
