import Type, { type TSchema } from 'typebox';
import { header } from '../http/error-responses.ts';
import { etagHeader, notModified } from '../http/openapi.ts';

const OAuthErrorBody = Type.Object(
  { error: Type.String(), error_description: Type.String() },
  { 'x-component': 'OAuthError' },
);

const descriptions = {
  400: 'The request is invalid; `error` says why',
  401: '`invalid_client` or `invalid_token`',
  403: '`insufficient_scope`',
  default: 'Too large a body, too many requests, overload or a failure',
} as const;

/** The responses of an operation whose format an OAuth standard defines. */
export function oauthResponses(
  success: TSchema,
  { cached = false, errors = [400] }: { cached?: boolean; errors?: (400 | 401 | 403)[] },
) {
  return {
    200: { ...success, description: 'Success', ...(cached ? { headers: { ETag: etagHeader } } : {}) },
    ...(cached ? { 304: notModified } : {}),
    ...Object.fromEntries(
      [...errors, 'default' as const].map((status) => [
        status,
        {
          ...OAuthErrorBody,
          description: descriptions[status],
          ...(status === 401 ? { headers: { 'WWW-Authenticate': header('Basic or Bearer') } } : {}),
        },
      ]),
    ),
  };
}
