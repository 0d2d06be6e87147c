import type { FormInstance } from 'antd';
import { useState } from 'react';
import type { Versioned } from '../request.ts';

interface Options<Row, Values> {
  initialValues: Values;
  form: FormInstance<Values>;
  draft: { clear: () => void };
  /** Returns the values with the ETag, which the next save sends. */
  toFormValues: (record: Versioned<Row>) => Values;
}

/**
 * Returns the values that a form is based on: those that it was opened with or, after `showTheirs`, those of the other user's
 * version. The form has something to save only if its values differ from these.
 */
export function useFormBase<Row, Values>({ initialValues, form, draft, toFormValues }: Options<Row, Values>) {
  const [base, setBase] = useState(initialValues);
  const showTheirs = (theirs: Versioned<Row>) => {
    const values = toFormValues(theirs);
    setBase(values);
    draft.clear();
    form.setFieldsValue(values as Parameters<typeof form.setFieldsValue>[0]);
  };
  return { base, showTheirs };
}
