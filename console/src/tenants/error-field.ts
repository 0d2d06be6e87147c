import { ApiError } from '../http.ts';

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
