/** Sentences for the operator: what is wrong with the start, and what to do. */
export class StartRefused extends Error {}
