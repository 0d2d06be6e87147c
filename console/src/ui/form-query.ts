/** Options of a query for a form: it reads the current record for every form, and does not refetch while that is being edited. */
export const formQuery = { gcTime: 0, staleTime: Number.POSITIVE_INFINITY };
