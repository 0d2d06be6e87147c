/**
 * The username profile of PRECIS, RFC 8265 section 3.3 (UsernameCaseMapped), based on the Unicode version of the platform. It is
 * stricter in one point: the zero-width join controls, which PRECIS allows in the middle of some scripts, are never allowed,
 * because two names that differ only in them can look alike.
 */

/** Whether a name conforms to the profile. */
export function isPrecisUsername(name: string): boolean {
  // RFC 8265, 3.3.2 and 3.3.3: map the width, check the characters, map the case, compose, then check the contexts.
  const narrow = name.replace(WIDE_OR_NARROW, (character) => character.normalize('NFKC'));
  if (narrow === '' || ![...narrow].every(isIdentifierCharacter)) return false;
  const enforced = narrow.toLowerCase().normalize('NFC');
  return contextRules.every((rule) => rule(enforced)) && followsBidiRule([...enforced]);
}

/** The fullwidth and halfwidth forms, and the ideographic space. */
const WIDE_OR_NARROW = /[\u3000\uff01-\uffee]/g;

/** The IdentifierClass of RFC 8264, section 4.2, with the categories of its section 9. */
function isIdentifierCharacter(character: string): boolean {
  if (EXCEPTIONS.test(character)) return true;
  if (NEVER_ALLOWED.test(character)) return false;
  if (ASCII.test(character)) return true;
  return LETTERS_AND_DIGITS.test(character) && character.normalize('NFKC') === character;
}

/** Section 9.6: allowed, some of them only in a context. */
const EXCEPTIONS = /[\u00df\u03c2\u06fd\u06fe\u0f0b\u3007\u00b7\u0375\u05f3\u05f4\u30fb\u0660-\u0669\u06f0-\u06f9]/u;
/** Section 9.6, the conjoining Hangul jamo (9.9), unassigned characters (9.10) and those that are ignorable (9.13). */
const NEVER_ALLOWED =
  /[\u0640\u07fa\u302e\u302f\u3031-\u3035\u303b\u1100-\u11ff\ua960-\ua97c\ud7b0-\ud7fb]|\p{Cn}|\p{Default_Ignorable_Code_Point}/u;
const ASCII = /[!-~]/;
const LETTERS_AND_DIGITS = /[\p{Ll}\p{Lu}\p{Lo}\p{Nd}\p{Lm}\p{Mn}\p{Mc}]/u;

/** RFC 5892, appendix A.3 to A.9. */
const contextRules: ((name: string) => boolean)[] = [
  (name) => !/(?<!l)\u00b7|\u00b7(?!l)/u.test(name),
  (name) => !/\u0375(?!\p{Script=Greek})/u.test(name),
  (name) => !/(?<!\p{Script=Hebrew})[\u05f3\u05f4]/u.test(name),
  (name) => !name.includes('\u30fb') || /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u.test(name),
  (name) => !(/[\u0660-\u0669]/.test(name) && /[\u06f0-\u06f9]/.test(name)),
];

/** RFC 5893, section 2: a name with right-to-left characters is displayed in the same order in any context. */
function followsBidiRule(characters: string[]): boolean {
  const classes = characters.map(bidiClassOf);
  if (!classes.some((each) => each === 'R' || each === 'AN')) return true;
  const last = classes.findLast((each) => each !== 'NSM');
  return (
    classes[0] === 'R' &&
    !classes.includes('L') &&
    (last === 'R' || last === 'EN' || last === 'AN') &&
    !(classes.includes('EN') && classes.includes('AN'))
  );
}

/** The class of a character in the bidirectional algorithm; R includes AL, and `other` are the neutral and weak ones. */
function bidiClassOf(character: string): 'L' | 'R' | 'EN' | 'AN' | 'NSM' | 'other' {
  if (/[\p{Mn}\p{Me}]/u.test(character)) return 'NSM';
  if (/[0-9\u06f0-\u06f9]/.test(character)) return 'EN';
  if (/[\u0660-\u0669\u{10d30}-\u{10d39}]/u.test(character)) return 'AN';
  if (RIGHT_TO_LEFT.test(character)) return 'R';
  return /[\p{L}\p{Mc}\p{Nd}]/u.test(character) && !NEUTRAL_LETTERS.test(character) ? 'L' : 'other';
}

/** The ranges that Unicode reserves for right-to-left scripts (DerivedBidiClass.txt), including letters added later. */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const NEUTRAL_LETTERS = /[\u02b9\u02ba\u02c6-\u02cf\u02ec\u0374\u2e2f\ua67f\ua717-\ua71f\ua788]/;
