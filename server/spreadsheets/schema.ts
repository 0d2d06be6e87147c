import Type from 'typebox';
import { TenantQuery } from '../http/fields.ts';

export type Format = 'xlsx' | 'csv';

/** The query parameter of exports and templates. */
export const format = Type.Optional(
  Type.Unsafe<Format>({
    type: 'string',
    enum: ['xlsx', 'csv'],
    default: 'xlsx',
    description: 'The format of the file',
  }),
);

export const TemplateQuery = Type.Object({ format, ...TenantQuery.properties });
