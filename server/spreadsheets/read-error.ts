/** Why a file cannot be read. */
export type ReadProblem = 'empty' | 'damaged' | 'encrypted' | 'oldFormat' | 'encoding' | 'unpacked' | 'rows' | 'slow';

/** Thrown in the worker, which tells the service only the problem. */
export class ReadError extends Error {
  readonly problem: ReadProblem;

  constructor(problem: ReadProblem) {
    super(problem);
    this.problem = problem;
  }
}
