import type { Config, settings } from '../../server/config.ts';

/** What the tests of the settings expect of each one. The values are in the files `config-values-*.ts`. */

export type Setting = keyof typeof settings;

export interface Expectation {
  /** The property of the config and its default. */
  unset: [name: keyof Config, value: unknown];
  valid: [text: string, value: unknown][];
  invalid: string[];
}

export type ExpectedValues = Partial<Record<Setting, Expectation>>;
