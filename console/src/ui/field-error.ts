import type { ApiError } from '../http.ts';

/**
 * Returns the text of an error to show at a form field. The service's messages about a field begin with its name in the API;
 * people know the field by its label. An item of a list (`addresses[0]`) gets the label of the list.
 */
export function getFieldErrorText({ message, details }: ApiError, label: string): string {
  const name = `${details.field} `;
  if (!message.startsWith(name)) return message;
  const problem = message.slice(name.length);
  // There is no space between two Chinese words.
  const separator = isAscii(label.at(-1)) || isAscii(problem[0]) ? ' ' : '';
  return `${label}${separator}${problem}`;
}

const isAscii = (character = '') => character <= '~';
