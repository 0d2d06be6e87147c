/** Why a file cannot be read. */
export type ReadProblem =
  | 'empty'
  | 'damaged'
  | 'encrypted'
  | 'oldFormat'
  | 'encoding'
  | 'unpacked'
  | 'rows'
  | 'columns'
  | 'cell'
  | 'slow';

/** Thrown in the worker, which reports only the problem to the service. */
export class ReadError extends Error {
  readonly problem: ReadProblem;

  constructor(problem: ReadProblem) {
    super(problem);
    this.problem = problem;
  }
}
