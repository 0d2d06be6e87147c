import { ApiError } from '../http.ts';

/** The form field that an error is about; undefined if it is about none. */
export function getErrorField(error: unknown): string | [string, string] | undefined {
  if (!(error instanceof ApiError)) return undefined;
  if (/^TENANT_(CYCLE|PARENT_)/.test(error.code)) return 'tenantParent';
  if (error.code === 'ACCOUNT_LIMIT') return 'accountCount';
  const field = typeof error.data.field === 'string' ? error.data.field : undefined;
  const [group, key] = field?.split('.') ?? [];
  if (!key) return field;
  if (group === 'quotaBo') return ['quotas', key];
  if (group === 'ruleBo') return ['rules', key];
  return group === 'packageBo' ? 'menuIds' : undefined;
}
