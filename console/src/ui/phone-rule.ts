import { defineTexts, useTexts } from '../language.ts';

const phoneTexts = defineTexts({
  zh: { invalid: '请检查号码：手机号为 11 位数字，固定电话请加区号' },
  en: { invalid: 'Check the number: it does not look like a phone number' },
});

/**
 * Whether a text looks like a phone number: 5 to 15 digits with separators, an optional country code and extension. A Chinese
 * mobile number has 11 digits.
 */
export function isPhoneNumber(text: string): boolean {
  const [, number = ''] = /^(\+?[\d\s().-]+?)(?:\s*(?:转|ext\.?|x|#)\s*\d{1,6})?$/i.exec(text.trim()) ?? [];
  const digits = number.replace(/\D/g, '');
  if (digits.length < 5 || digits.length > 15) return false;
  return !/^1[3-9]/.test(number.trim()) || digits.length === 11;
}

/** A rule of a form field. It only warns: the service accepts any text, and other systems may have stored one. */
export function usePhoneRule() {
  const t = useTexts(phoneTexts);
  return {
    warningOnly: true,
    validator: async (_: unknown, value?: string | null) => {
      if (value?.trim() && !isPhoneNumber(value)) throw new Error(t.invalid);
    },
  };
}
