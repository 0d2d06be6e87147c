/** Saves a file where the browser saves downloads. */
export function saveFile(blob: Blob, name: string): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  // Ten seconds are enough for the download to start.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
