export const isZip = (bytes: Uint8Array): boolean => startsWith(bytes, [0x50, 0x4b]);

/** The container of .xls files, and of .xlsx files with a password. */
export const isOle2 = (bytes: Uint8Array): boolean => startsWith(bytes, [0xd0, 0xcf, 0x11, 0xe0]);

/** Documents that are not CSV files. Many systems write a web page with a table and call it .xls. */
const OTHER_TEXT = /^\s*(%PDF-|\{\\rtf|MIME-Version:|<(!doctype|\?xml|html|head|meta|style|body|div|table)\b)/i;

export const isOtherText = (text: string): boolean => OTHER_TEXT.test(text);

const startsWith = (bytes: Uint8Array, prefix: number[]): boolean => prefix.every((byte, n) => bytes[n] === byte);
