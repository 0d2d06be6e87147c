import { ApiError, apiError } from './errors.ts';

/** How many errors a response lists. */
const MAX_ERRORS = 100;

/**
 * Collects the errors of a list of rows, so that a caller can fix all of them at once. The response is the error of the first
 * row; `errors` contains it and the others, each with the `ref` of its row.
 */
export class RowErrors {
  private readonly found: { n: number; ref: unknown; error: ApiError }[] = [];
  private readonly rows = new Set<number>();

  /** Whether further errors would not be listed. */
  get isFull(): boolean {
    return this.found.length >= MAX_ERRORS;
  }

  has(n: number): boolean {
    return this.rows.has(n);
  }

  add(n: number, ref: unknown, error: ApiError): void {
    this.rows.add(n);
    if (!this.isFull) this.found.push({ n, ref, error });
  }

  /** Runs a check of a row and keeps the error that it throws. */
  check(n: number, ref: unknown, assert: () => void): void {
    try {
      assert();
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.add(n, ref, error);
    }
  }

  throwIfAny(): void {
    const [first, ...others] = this.found.sort((a, b) => a.n - b.n);
    if (!first) return;
    const errors = [first, ...others].map(({ ref, error }) => ({
      ...refOf(ref),
      reason: error.code,
      msg: { zh: error.text('zh'), en: error.text('en') },
      ...error.details,
    }));
    throw apiError(first.error.code, { ...first.error.details, ...refOf(first.ref), errors });
  }
}

/** A `ref` that is not a string is left out; one that is too long is truncated. */
const refOf = (ref: unknown): { ref?: string } => (typeof ref === 'string' ? { ref: ref.slice(0, 100) } : {});
