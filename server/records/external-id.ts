import Type, { type Static } from 'typebox';
import { raw, type Tx } from '../../db/driver.ts';
import { constraintOf, errorCode } from '../../db/errors.ts';
import { type ApiError, apiError } from '../http/errors.ts';
import { invalid } from '../http/validation.ts';

/** Identifies a record in another system. The two fields are set together, and unique together within a tenant. */
export interface ExternalId {
  source?: string | null | undefined;
  externalId?: string | null | undefined;
}

export const externalIdFields = {
  source: {
    column: 'source',
    type: 'text',
    schema: Type.String({ minLength: 1, maxLength: 50, description: 'The system that `externalId` comes from' }),
    default: null,
    keptIfOmitted: true,
  },
  externalId: {
    column: 'external_id',
    type: 'text',
    schema: Type.String({
      minLength: 1,
      maxLength: 200,
      description: 'Id in `source`; the pair is unique',
    }),
    default: null,
    keptIfOmitted: true,
  },
} as const;

export const externalIdFilters = {
  source: Type.Optional(Type.String({ maxLength: 50, description: 'Exact `source`' })),
  externalId: Type.Optional(Type.String({ maxLength: 200, description: 'Exact `externalId`' })),
};

/** The path of a record that is read by its external id. */
export const ExternalIdPath = Type.Object({
  source: externalIdFields.source.schema,
  externalId: externalIdFields.externalId.schema,
});
export type ExternalIdPath = Static<typeof ExternalIdPath>;

/** Sets both fields to null if one is null and the other is omitted: null erases the pair. */
export const completeExternalId = <T extends ExternalId>(input: T): T =>
  (input.source === null && input.externalId === undefined) || (input.externalId === null && input.source === undefined)
    ? { ...input, source: null, externalId: null }
    : input;

/** Returns an error if one of the two fields is set without the other. `path` leads to the record within the request. */
export function externalIdError({ source, externalId }: ExternalId, path = ''): ApiError | undefined {
  if ((source == null) === (externalId == null)) return undefined;
  return apiError('FIELD_REQUIRED', { field: `${path}${source == null ? 'source' : 'externalId'}` });
}

export function assertExternalId(input: ExternalId, path = ''): void {
  const error = externalIdError(input, path);
  if (error) throw error;
}

/** An external id of a request for several records, and the index of its record. */
export interface ListedExternalId {
  index: number;
  source: string;
  externalId: string;
}

export const listExternalIds = (records: readonly ExternalId[]): ListedExternalId[] =>
  records.flatMap(({ source, externalId }, index) =>
    source != null && externalId != null ? [{ index, source, externalId }] : [],
  );

/** Finds records by their external ids. Returns the index of each external id that a record has, and the id of that record. */
export type FindByExternalIds = (
  tx: Tx,
  tenantId: string,
  listed: readonly ListedExternalId[],
) => Promise<{ index: number; id: number }[]>;

/** Returns the function for the table of a domain. `idColumn` is the column with the id of its records. */
export const externalIdFinder =
  (table: string, idColumn: string): FindByExternalIds =>
  async (tx, tenantId, listed) =>
    listed.length === 0
      ? []
      : tx<{ index: number; id: number }[]>`
          select w.index, r.id
          from json_to_recordset(${JSON.stringify(listed)}::text::json) as w (index int, source text, "externalId" text)
          cross join lateral (
            -- limit 1 forces the index, whatever the statistics say.
            select r.${raw(tx, idColumn)} as id from ${raw(tx, table)} r where r.tenant_id = ${tenantId}
              and r.source = w.source and r.external_id = w."externalId" and r.del_flag = '0' limit 1
          ) r
          order by w.index`;

/** Throws if a list contains an external id twice. `known` contains those of the records before it. */
export function assertNewExternalId(known: Set<string>, { source, externalId }: ExternalId, path: string): void {
  if (source == null || externalId == null) return;
  const key = JSON.stringify([source, externalId]);
  if (known.has(key)) throw invalid(`${path}externalId`, 'repeated');
  known.add(key);
}

/** Reports a violation of the unique index on external ids, of departments or of users. */
export function rethrowAsExternalIdTaken(error: unknown): never {
  const isTaken = errorCode(error) === '23505' && constraintOf(error).endsWith('_external_id');
  throw isTaken ? apiError('EXTERNAL_ID_TAKEN') : error;
}
