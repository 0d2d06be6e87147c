export const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b]);

/** The container of .xls files, and of .xlsx files with a password. */
export const isOle2 = (bytes: Uint8Array): boolean => startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0]);

const startsWith = (bytes: Uint8Array, prefix: number[]): boolean => prefix.every((byte, n) => bytes[n] === byte);
