import { ApiError } from '../http.ts';

/** Returns the label of a form field; `texts` are those of the fields. */
export const getFieldLabel = (texts: object, name: string | [string, string]): string => {
  const key = [name].flat().at(-1) as string;
  return (texts as Record<string, string>)[key] ?? key;
};

/** The form field that an error is about; undefined if it is not about a field. */
export function getErrorField(error: unknown): string | [string, string] | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (/^TENANT_(CYCLE|PARENT_)/.test(error.reason)) return 'tenantParent';
  if (error.reason === 'ACCOUNT_LIMIT') return 'accountCount';
  const field = typeof error.details.field === 'string' ? error.details.field : undefined;
  const [group, key] = field?.split('.') ?? [];
  if (!key) return field;
  if (group === 'quotaBo') return ['quotas', key];
  if (group === 'ruleBo') return ['rules', key];
  return group === 'packageBo' ? 'menuIds' : undefined;
}
