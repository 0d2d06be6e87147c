import { ApiRefusal } from '../http.ts';

/** Which field of the form a refusal is about; undefined: about none. */
export function fieldOf(error: unknown): string | [string, string] | undefined {
  if (!(error instanceof ApiRefusal)) return undefined;
  if (/^TENANT_(CYCLE|PARENT_)/.test(error.reason)) return 'tenantParent';
  if (error.reason === 'ACCOUNT_LIMIT') return 'accountCount';
  const field = typeof error.data.field === 'string' ? error.data.field : undefined;
  const [group, key] = field?.split('.') ?? [];
  if (!key) return field;
  if (group === 'quotaBo') return ['quotas', key];
  if (group === 'ruleBo') return ['rules', key];
  return group === 'packageBo' ? 'menuIds' : undefined;
}
