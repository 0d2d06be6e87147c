/**
 * Options of a query for a form: it reads the current record when the form opens, and does not refetch it until the form
 * closes, not even after a live update. Otherwise a save would overwrite the changes of another user without a conflict.
 */
export const formQuery = { gcTime: 0, staleTime: 'static' } as const;
