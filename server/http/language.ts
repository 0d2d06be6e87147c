import type { IncomingHttpHeaders } from 'node:http';
import type { Language } from './errors.ts';

/** Chinese, unless the caller prefers English in Accept-Language or in content-language, which RuoYi's front ends send. */
export function languageOf(headers: IncomingHttpHeaders): Language {
  const ruoyi = /^(en|zh)(?![a-z])/i.exec(headers['content-language'] ?? '')?.[1]?.toLowerCase();
  if (ruoyi) return ruoyi as Language;
  const preferences = (headers['accept-language'] ?? '')
    .split(',')
    .map((part) => {
      const [tag = '', ...parameters] = part.trim().split(';');
      const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
      return { language: /^en\b/i.test(tag) ? 'en' : /^zh\b/i.test(tag) ? 'zh' : undefined, q: Number(quality ?? 1) };
    })
    .filter(({ language, q }) => language && q > 0)
    .sort((a, b) => b.q - a.q);
  return (preferences[0]?.language as Language | undefined) ?? 'zh';
}
