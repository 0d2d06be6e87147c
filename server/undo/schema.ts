import Type, { type Static } from 'typebox';
import { Long, optional } from '../http/fields.ts';

export const RestoreInput = Type.Object(
  { parentId: optional(Long) },
  {
    'x-optional': true,
    description: 'May be left out. `parentId`: another parent than the one it had; 0 for the top level.',
  },
);
export type RestoreInput = Static<typeof RestoreInput>;
