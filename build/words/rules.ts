import type { Passage } from './prose.ts';

/** A sentence that breaks a rule. */
export interface Fault extends Passage {
  readonly rule: string;
}

/** A sentence with more words is too long. */
export const wordsMax = 30;

const segmenter = new Intl.Segmenter('en', { granularity: 'sentence' });

/** Words to avoid, each with what to write instead. */
const out: readonly (readonly [RegExp, string])[] = [
  [/^(?:Who|Whoever|Whose|Whatever|What|Of|Where|Amid|So many)\b(?!.*\?$)/, 'begin with the subject'],
  [/\bmay\b/, '"can" or "might", not "may"'],
  [/\bstands?\b(?! still|-)/, '"is", not "stands"'],
  [
    /\bholds?\b(?! (?:the|a|its|this|that|another|back|no|one)\b.*\block\b)/,
    '"contains" or "has", not "holds"',
  ],
  [/\banew\b/, '"again", not "anew"'],
  [/\bamid\b/, '"during", not "amid"'],
  [/\bsuch\b/, 'no "such"'],
  [/\b(?:thereby|hence|foretells?|whence|thereof|herein|lest)\b/, 'a plain word'],
  [/\bat the least\b/, '"at least"'],
  [/, for (?:it|they|nothing|nobody|there)\b/, '"because", not "for"'],
  [/\b(?:sweep|sweeps|sweeping)\b/i, '"full sync", not "sweep"'],
  [/\b(?:spoilt|groundwork|befall|befell|betimes|hitherto)\b/, 'a plain word'],
];

/** Code and the program's name begin a sentence with a small letter, where the segmenter sees none. */
const smallStart = /(?<=[.!?]) (?=(?:x|docmirror)\b)/g;
const paragraphSeparator = '\u2029';

/** The sentences of a passage. */
export function sentencesOf(text: string): string[] {
  return Array.from(segmenter.segment(text.replaceAll(smallStart, paragraphSeparator)), ({ segment }) =>
    segment.trim(),
  ).filter(sentence => sentence !== '');
}

/** How many words a sentence has. A sign alone is not a word. */
export function wordCount(sentence: string): number {
  return sentence.split(/\s+/).filter(word => /[\p{L}\p{N}]/u.test(word)).length;
}

/** The faults of a passage, one for each rule that a sentence breaks. */
export function faultsOf(passage: Passage): Fault[] {
  return sentencesOf(passage.text).flatMap(sentence => {
    const words = wordCount(sentence);
    const long = words > wordsMax ? [`${words} words, at most ${wordsMax}`] : [];
    const wrong = out.filter(([pattern]) => pattern.test(sentence)).map(([, rule]) => rule);
    return [...long, ...wrong].map(rule => ({ ...passage, text: sentence, rule }));
  });
}
