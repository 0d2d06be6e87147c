/**
 * Department paths in spreadsheets: the names from the top down, separated by slashes, such as `总部/研发中心/前端组`. A name may
 * contain any character, so a backslash escapes those that have a meaning here. In a cell with several paths, line breaks,
 * semicolons or Chinese commas separate them.
 */

const ESCAPES: Record<string, string> = { '/': '\\/', '\\': '\\\\', '\n': '\\n', '\r': '\\r' };
const UNESCAPED: Record<string, string> = { n: '\n', r: '\r' };

export const encodePath = (names: readonly string[]): string =>
  names.map((name) => name.replaceAll(/[/\\\n\r]/g, (character) => ESCAPES[character] as string)).join('/');

/** Returns the names of a path; none for an empty text. A backslash before any other character stands for itself. */
export function decodePath(path: string): string[] {
  if (path === '') return [];
  const names: string[] = [];
  let name = '';
  for (const [token] of path.matchAll(/\\[/\\nr;；，]|[^/\\]+|[/\\]/g)) {
    if (token === '/') {
      names.push(name);
      name = '';
    } else if (token.length === 2 && token.startsWith('\\')) {
      name += UNESCAPED[token.charAt(1)] ?? token.charAt(1);
    } else name += token;
  }
  return [...names, name];
}

/** Several paths in one cell, one per line. */
export const encodePaths = (paths: readonly (readonly string[])[]): string =>
  paths.map((names) => encodePath(names).replaceAll(/[;；，]/g, '\\$&')).join('\n');

const SEPARATOR = /^[\r\n;；，]/;

/** Returns the paths in a cell, each in the form that `decodePath` takes. */
export function splitPaths(cell: string): string[] {
  const paths: string[] = [];
  let path = '';
  for (const [token] of cell.matchAll(/\\[^\r\n]|[^\\\r\n;；，]+|[\\\r\n;；，]/g)) {
    if (SEPARATOR.test(token)) {
      paths.push(path);
      path = '';
    } else path += token;
  }
  return [...paths, path].filter((each) => each !== '');
}
