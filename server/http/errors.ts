import { alternativeTexts, type ErrorCode, errorCatalog } from './errors/catalog.ts';

export { alternativeTexts, type ErrorCode, errorCatalog };

export type Language = 'zh' | 'en';
/** The value of a detail. A text may exist in both languages. */
export type Detail =
  | string
  | number
  | null
  | readonly (string | number)[]
  | Record<Language, string>
  | readonly { readonly [name: string]: Detail }[];

/** An error that the caller receives. The error handler in app.ts turns it into a response. */
export class ApiError extends Error {
  /** Callers receive it as `reason`; `code` in the envelope is the HTTP status. */
  readonly code: ErrorCode;
  readonly details: Record<string, Detail>;

  constructor(code: ErrorCode, details: Record<string, Detail>) {
    super(code);
    this.code = code;
    this.details = details;
  }

  get status(): number {
    return errorCatalog[this.code][0];
  }

  text(language: Language): string {
    const [detail, ...alternative] = alternativeTexts[this.code as keyof typeof alternativeTexts] ?? [];
    const [zh, en] = detail !== undefined && detail in this.details ? alternative : errorCatalog[this.code].slice(1);
    const template = String(language === 'en' ? en : zh);
    return template.replace(/\{(\w+)\}( ?)/g, (_, name, space) => {
      const value = String(translate(this.details[name] ?? '', language));
      // `field` may be the header of a column. Chinese has no space after it, unlike after a name such as `deptName`.
      return name === 'field' && language === 'zh' && /\p{Script=Han}$/u.test(value) ? value : value + space;
    });
  }

  /** The code and the details, as the response contains them. */
  data(language: Language): Record<string, unknown> {
    return { reason: this.code, ...translateAll(this.details, language) };
  }
}

function translate(detail: Detail, language: Language): unknown {
  if (detail === null || typeof detail !== 'object') return detail;
  if ('zh' in detail) return detail[language];
  return detail.map((item) => (typeof item === 'object' ? translateAll(item, language) : item));
}

const translateAll = (details: { readonly [name: string]: Detail }, language: Language): Record<string, unknown> =>
  Object.fromEntries(Object.entries(details).map(([name, detail]) => [name, translate(detail, language)]));

/** Creates an error: `throw apiError('DEPT_HAS_CHILDREN', { deptIds })`. */
export function apiError(code: ErrorCode, details: Record<string, Detail> = {}): ApiError {
  // Skip the stack trace: nobody debugs these errors, and capturing it costs more than the rest of the error response.
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 0;
  const error = new ApiError(code, details);
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
