/** Saves a file. */
export function download(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser reads it after this event.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** A CSV file that spreadsheet programs open as UTF-8. User names and generated passwords need no escaping but quotes. */
export const toCsv = (rows: readonly (readonly string[])[]): Blob =>
  new Blob(
    [`\ufeff${rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\r\n')}\r\n`],
    {
      type: 'text/csv;charset=utf-8',
    },
  );
