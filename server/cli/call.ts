/**
 * Returns how the operator calls a command, for messages: through `npx banyan`, or as an npm script in a checkout of the sources.
 */
export function callOf(name: string, args = ''): string {
  if (/[/\\]banyan(\.js)?$/.test(process.argv[1] ?? '')) return `npx banyan ${name} ${args}`.trimEnd();
  return `npm run ${name}${args && ` -- ${args}`}`;
}
