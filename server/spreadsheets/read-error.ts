/** Why a file cannot be read. */
export type ReadProblem =
  | 'empty'
  | 'damaged'
  | 'encrypted'
  | 'oldFormat'
  | 'encoding'
  | 'tooLarge'
  | 'rows'
  | 'columns'
  | 'quote'
  | 'cell'
  | 'slow';

/** Thrown in the worker, which reports only the problem and its row to the service. */
export class ReadError extends Error {
  readonly problem: ReadProblem;
  /** The number of the row with the problem, from 1. */
  readonly row: number | undefined;

  constructor(problem: ReadProblem, row?: number) {
    super(problem);
    this.problem = problem;
    this.row = row;
  }
}
