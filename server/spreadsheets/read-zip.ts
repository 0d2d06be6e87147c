import { inflateRawSync } from 'node:zlib';
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

export interface ZipEntry {
  name: string;
  method: number;
  packedSize: number;
  size: number;
  /** The position of its local header. */
  offset: number;
  /** The position of its name in the directory. */
  nameAt: number;
}

/**
 * Reads the directory of a zip file. Throws unless the sizes in it are within the limits. The library stops inflating an entry at
 * the size that the directory states, so an entry whose size is not stated there is rejected: it would not be bounded.
 */
export function readDirectory(bytes: Uint8Array): ZipEntry[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = findEndOfDirectory(view);
  const entries = view.getUint16(end + 10, true);
  let position = view.getUint32(end + 16, true);
  // With one of these values, a zip64 directory counts instead. No workbook within the limits needs it.
  const isZip64 = entries === 0xffff || position === 0xffffffff || view.getUint32(end + 12, true) === 0xffffffff;
  if (isZip64 || entries > MAX_ENTRIES) throw new ReadError('tooLarge');
  let unpacked = 0;
  const found = new Map<string, ZipEntry>();
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
    if (unpacked > MAX_UNPACKED) throw new ReadError('tooLarge');
    const nameLength = view.getUint16(position + 28, true);
    const name = Buffer.from(bytes.subarray(position + 46, position + 46 + nameLength)).toString('utf8');
    // Programs differ in which of several entries with the same name they read.
    if (found.has(name)) throw new ReadError('damaged');
    found.set(name, {
      name,
      method,
      packedSize,
      size,
      offset: view.getUint32(position + 42, true),
      nameAt: position + 46,
    });
    position += 46 + nameLength + view.getUint16(position + 30, true) + view.getUint16(position + 32, true);
  }
  return [...found.values()];
}

/** Returns a copy of a zip file in which no entry has the name of these entries. */
export function hideEntries(bytes: Uint8Array, entries: readonly ZipEntry[]): Uint8Array {
  const copy = new Uint8Array(bytes);
  // NUL is in no name that a workbook refers to.
  for (const { nameAt } of entries) copy[nameAt] = 0;
  return copy;
}

/** Unpacks an entry of a zip file. Throws if it is longer than the directory states. */
export function unpackEntry(bytes: Uint8Array, { method, packedSize, size, offset }: ZipEntry): Buffer {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (offset + 30 > bytes.length) throw new ReadError('damaged');
  const start = offset + 30 + view.getUint16(offset + 26, true) + view.getUint16(offset + 28, true);
  const packed = bytes.subarray(start, start + packedSize);
  if (method === STORED) return Buffer.from(packed);
  try {
    return inflateRawSync(packed, { maxOutputLength: Math.max(size, 1) });
  } catch {
    throw new ReadError('damaged');
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
