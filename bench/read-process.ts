/** Reads responses for a measure, and reports the size of each in bytes; 0 for an error. */
process.on('message', async ({ base, path, token }: { base: string; path: string; token: string }) => {
  const response = await fetch(`${base}${path}`, { headers: { authorization: `Bearer ${token}` } });
  const { byteLength } = await response.arrayBuffer();
  process.send?.({ bytes: response.ok ? byteLength : 0 });
});
process.on('disconnect', () => process.exit());
