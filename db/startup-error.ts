/** Prevents the start. The message is for the operator: it says what is wrong and what to do. */
export class StartupError extends Error {}
