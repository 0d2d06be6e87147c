import type { TObject } from 'typebox';
import { Int, Long, LongOut, orNull } from './fields.ts';

/**
 * Turns the schemas that the routes share into named components of the OpenAPI document. Routes keep whole schemas, because
 * validators and serializers that follow references are slower. These keywords say what the document shows:
 *
 * - `x-component`: the name of the component that the schema becomes; it is referenced wherever it is used.
 * - `x-ref`: the document refers to the component with this name, which may contain itself or belong to another domain.
 * - `x-openapi`: the document shows this schema instead, which would be too slow for a serializer.
 * - `x-success`: the response has the envelope of a success (openapi.ts).
 *
 * The document shows neither `x-problem`, which names a message of field-problems.ts, nor `x-optional`, which marks a body that
 * may be omitted.
 */
const OMITTED = new Set(['x-component', 'x-openapi', 'x-problem', 'x-optional', 'x-success']);

type Json = Record<string, unknown>;

export interface Components {
  schemas: Json;
  responses: Json;
  headers: Json;
  parameters: Json;
}

export type Section = keyof Components;

const reference = (section: Section, name: string) => ({ $ref: `#/components/${section}/${name}` });

/** A schema for the document: a value of a component, or null. */
export const refOrNull = (name: string) => ({ anyOf: [{ 'x-ref': name }, { type: 'null' }] });

/** Schema options: the document shows the schema as `base` (a component, or the name of one) extended by `further`. */
export const extending = (base: TObject | string, name: string, further: TObject) => ({
  'x-openapi': { 'x-component': name, allOf: [typeof base === 'string' ? { 'x-ref': base } : base, further] },
});

/** Fields that many records have are components too, wherever they need no description of their own. */
const FIELD_COMPONENTS = new Map(
  Object.entries({
    Id: LongOut,
    IdOrNull: orNull(LongOut),
    IdInput: Long,
    IdInputOrNull: orNull(Long),
    Int32: Int(),
    Amount: orNull(Int({ minimum: 0 })),
  }).map(([name, schema]) => [JSON.stringify(schema, (key, value) => (OMITTED.has(key) ? undefined : value)), name]),
);

/** Replaces named schemas by references, at any depth, and adds them to `schemas`. */
export function extractSchemas(value: unknown, schemas: Json): unknown {
  if (Array.isArray(value)) return value.map((each) => extractSchemas(each, schemas));
  if (typeof value !== 'object' || value === null) return value;
  const node = value as Json;
  if (typeof node['x-ref'] === 'string') return reference('schemas', node['x-ref']);
  if (node['x-openapi']) return extractSchemas(node['x-openapi'], schemas);
  const shown = Object.fromEntries(
    Object.entries(node)
      .filter(([key]) => !OMITTED.has(key))
      .map(([key, inner]) => [key, extractSchemas(inner, schemas)]),
  );
  const name = node['x-component'] ?? FIELD_COMPONENTS.get(JSON.stringify(shown));
  if (typeof name !== 'string') return shown;
  addOnce(schemas, name, shown);
  return reference('schemas', name);
}

/** Two schemas with one name would be a mistake in the code: one of them would be lost. */
function addOnce(section: Json, name: string, value: unknown): void {
  section[name] ??= value;
  if (JSON.stringify(section[name]) !== JSON.stringify(value)) throw new Error(`two components are named ${name}`);
}

interface Use {
  holder: Json;
  key: string;
}

/**
 * Collects objects that many operations repeat. Those that occur at least `minUses` times become components with the given name;
 * further ones with the same name get a number.
 */
export class RepeatedObjects {
  private readonly uses = new Map<string, { name: string; value: unknown; uses: Use[]; minUses: number }>();

  add(name: string, holder: object, key: string, minUses = 2): void {
    const value = (holder as Json)[key];
    const text = `${name} ${JSON.stringify(value)}`;
    const known = this.uses.get(text) ?? { name, value, uses: [], minUses };
    known.uses.push({ holder: holder as Json, key });
    this.uses.set(text, known);
  }

  moveTo(components: Components, section: Section): void {
    const byFrequency = [...this.uses.values()].sort((a, b) => b.uses.length - a.uses.length);
    for (const { name, value, uses, minUses } of byFrequency) {
      if (uses.length < minUses) continue;
      let unique = name;
      for (let n = 2; unique in components[section]; n++) unique = `${name}${n}`;
      components[section][unique] = value;
      for (const { holder, key } of uses) holder[key] = reference(section, unique);
    }
  }
}
