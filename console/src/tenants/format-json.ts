const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[[\]{}:,]|[^\s[\]{}:,"]+/g;

/**
 * Indents JSON. Keeps each value as it is written: parsing would round long numbers and drop repeated names. Returns a text
 * that is not JSON, or becomes too long, unchanged.
 */
export function formatJson(text: string): string {
  try {
    JSON.parse(text);
    return indentTokens(text.match(TOKEN) ?? []);
  } catch {
    return text;
  }
}

function indentTokens(tokens: string[]): string {
  let [formatted, previous, newLine] = ['', '', '\n'];
  for (const token of tokens) {
    const isFirst = previous === '[' || previous === '{';
    const isEnd = token === ']' || token === '}';
    if (isEnd) newLine = newLine.slice(0, -2);
    if (isEnd ? !isFirst : isFirst || previous === ',') formatted += newLine;
    formatted += token === ':' ? ': ' : token;
    if (token === '[' || token === '{') newLine += '  ';
    previous = token;
  }
  return formatted;
}
