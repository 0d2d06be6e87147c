/** What the client has to know about an operation. The table in generated/operations.ts has one entry for each. */
export interface Operation {
  method: string;
  /** With parameters in braces. All other parameters go into the query. */
  path: string;
  /** The content type of the request body; default: application/json. */
  body?: string;
  /** How a success is read; default: the `data` of the envelope. */
  response?: 'json' | 'events' | 'file';
  /** It changes nothing although it is not a GET, so it can be sent again at any time. */
  safe?: boolean;
  /** It accepts an Idempotency-Key. */
  idempotent?: boolean;
  /** It needs no access token. */
  public?: boolean;
  /** Its rows can be read page by page with a cursor. */
  cursor?: boolean;
}
