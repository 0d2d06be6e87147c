/** Sends requests for a measure, and reports the size of each response in bytes; 0 for an error. With `file`, uploads it. */
process.on('message', async ({ base, path, token, file }: ReadRequest) => {
  const upload = new FormData();
  if (file !== undefined) upload.set('file', new Blob([file]), 'bench.csv');
  const response = await fetch(`${base}${path}`, {
    headers: { authorization: `Bearer ${token}` },
    ...(file === undefined ? {} : { method: 'POST', body: upload }),
  });
  const { byteLength } = await response.arrayBuffer();
  process.send?.({ bytes: response.ok ? byteLength : 0 });
});
process.on('disconnect', () => process.exit());

export interface ReadRequest {
  base: string;
  path: string;
  token: string;
  file?: string | undefined;
}
