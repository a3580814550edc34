// What a list shows of the service, in the words of src/store/tables/service-facts.ts: its fields, how late records come, its order and totals.

import { shapeOf } from '../../contract/content.ts';
import { greatestOf } from '../../contract/extremes.ts';
import { isObject } from '../../contract/json.ts';
import { timeFieldOf } from '../../contract/lists.ts';
import type { MirrorRecord } from '../../contract/record.ts';
import { instantMs } from '../../contract/time.ts';
import type { Finding } from '../../proof/findings.ts';
import { asItsRow, type PageItems, type ShownRecords } from '../../proof/page-items.ts';
import { firstRow, firstValue } from '../tables/ask.ts';
import { areFieldsKnown } from '../tables/service-facts.ts';
import { BitSet } from './compact-sets.ts';
import type { ListContext } from './mirror.ts';
import type { ReadList, SavedState } from './sync-state.ts';

/** So many kinds and events, fields beside the contract and forms of times are noticed in a run. */
const namesMax = 60;

const nothingSeen = (name: string) => {
  const counts = { missing: 0, null: 0, empty: 0, withoutName: 0, longest: 0 };
  return { name, lastType: '', types: new Set<string>(), times: new Map<number, string>(), counts };
};
type FieldSight = ReturnType<typeof nothingSeen>;

/**
 * What the records of a list are, as a run parses them: each text once that the mirror did not have, or if nothing is known of its fields,
 * because an older docmirror read them, also those that it had.
 */
export class FieldsSeen {
  readonly #context: ListContext;
  readonly #isFirst: boolean;
  /** The rows that were noted, if nothing was known of fields; and the number of the newest text, because new ones have greater numbers. */
  readonly #rows = new BitSet();
  #newest = 0;
  readonly #sights: FieldSight[];
  readonly #words = new Map<string, number>();
  readonly #timeName: string | undefined;
  readonly #wordsName: string | undefined;
  #records = 0;

  constructor(context: ListContext) {
    const { list, sqlite } = context;
    this.#context = context;
    this.#isFirst = !areFieldsKnown(sqlite, list.resource);
    this.#sights = list.fields.map(({ name }) => nothingSeen(name));
    this.#timeName = list.fields.find(({ filter }) => filter === 'time')?.name;
    this.#wordsName = list.fields.find(({ filter, kind }) => filter === 'kind' || kind === 'texts')?.name;
  }

  /** Notes the records of a page, with the items that they were read from, and the numbers that they have got. */
  add(items: readonly unknown[], records: readonly MirrorRecord[], numbers: ShownRecords): void {
    for (const { position, extra } of records) {
      const [item, version] = [items[position], numbers.versions[position] as number];
      const isNew =
        version === asItsRow
          ? this.#isFirst && this.#rows.add(numbers.records[position] as number)
          : version > this.#newest;
      if (!isNew) continue;
      this.#newest = Math.max(this.#newest, version);
      if (isObject(item)) this.#note(item, extra !== null);
    }
  }

  #note(item: { readonly [name: string]: unknown }, hasFurther: boolean): void {
    this.#records++;
    if (hasFurther) this.#findFurther(Object.keys(item));
    for (const sight of this.#sights) {
      const { name, counts, times } = sight;
      const value = item[name];
      if (value === undefined) counts.missing++;
      else if (value === null) counts.null++;
      else if (typeof value !== 'string') this.#noteOther(value, sight);
      else {
        noteType('string', sight);
        const { length } = value;
        if (length === 0) counts.empty++;
        else if (length > counts.longest) counts.longest = length;
        if (name === this.#timeName) noteForm(times, value);
        else if (name === this.#wordsName) this.#word(value);
      }
    }
  }

  #noteOther(value: unknown, sight: FieldSight): void {
    const { name, counts } = sight;
    const isArray = Array.isArray(value);
    noteType(isArray ? 'array' : typeof value, sight);
    if (isArray && value.length === 0) counts.empty++;
    if (isArray ? value.some(isWithoutName) : isWithoutName(value)) counts.withoutName++;
    if (name === this.#wordsName) for (const each of isArray ? value : [value]) this.#word(each);
  }

  #findFurther(names: readonly string[]): void {
    const { list, ignored } = this.#context;
    for (const name of names) {
      if (this.#sights.some(sight => sight.name === name)) continue;
      if (shapeOf(list).known.has(name) || ignored.has(name)) continue;
      const sight = nothingSeen(name);
      // Records before this one did not have it.
      sight.counts.missing = this.#records - 1;
      if (this.#sights.length < list.fields.length + namesMax) this.#sights.push(sight);
    }
  }

  #word(word: unknown): void {
    if (typeof word !== 'string') return;
    const count = this.#words.get(word) ?? 0;
    if (count > 0 || this.#words.size < namesMax) this.#words.set(word, count + 1);
  }

  /** Tells what was read. */
  tell(): void {
    const { facts, list } = this.#context;
    if (this.#records === 0) return;
    for (const { name, types, times, counts } of this.#sights) {
      if (counts.null > 0) types.add('null');
      const isInContract = list.fields.some(field => field.name === name);
      if (counts.missing > 0 || !isInContract) types.add('missing');
      const forms = [...new Set(times.values())].sort();
      const value = { types: [...types].sort(), isInContract, ...(forms.length > 0 && { times: forms }) };
      facts.see(list.resource, 'field', value, { records: this.#records, ...counts }, name);
    }
    const fact = this.#timeName === undefined ? 'event' : 'kind';
    for (const [word, count] of this.#words) facts.see(list.resource, fact, word, { count }, word);
  }
}

/** Notes a type. Mostly it is that of the record before. */
function noteType(type: string, sight: FieldSight): void {
  if (type === sight.lastType) return;
  sight.lastType = type;
  sight.types.add(type);
}

const isWithoutName = (value: unknown) => isObject(value) && 'id' in value && typeof value.name !== 'string';

/** Times of one length with the same signs between and behind their numbers are in one form: a 0 stands for each digit. */
function noteForm(forms: FieldSight['times'], text: string): void {
  // A number is made faster than a text, for each record.
  const signAt = (at: number) => text.charCodeAt(at) || 0;
  const { length } = text;
  const key = ((length * 128 + signAt(10)) * 128 + signAt(19)) * 128 + signAt(length - 1);
  if (forms.has(key) || forms.size >= namesMax) return;
  forms.set(key, instantMs(text) === null ? 'unreadable' : text.replaceAll(/\d/g, '0'));
}

/** The greatest time of a list's rows before a run writes it, in milliseconds since 1970; null if nothing can be late. */
export function newestBefore({ list, sqlite, sumBefore, runs }: ListContext): number | null {
  const time = timeFieldOf(list);
  // Rows of a reading that ended early are not all older ones.
  const isWhole = runs.last('clean', list.resource)?.runId === runs.last('written', list.resource)?.runId;
  if (time === undefined || sumBefore.count === 0 || !isWhole) return null;
  return firstValue(sqlite, `SELECT max(${time.column}_ms) FROM ${list.table}`);
}

/** Notes how late the records came that a run has inserted; not if others went, which can be the same ones. */
export function seeLate({ list, sqlite, runId, facts }: ListContext, newest: number | null): void {
  if (newest === null) return;
  const time = `${timeFieldOf(list)?.column}_ms`;
  const ofInserted = `SELECT count(*) AS count, sum(${time} < @newest) AS late, min(${time}) AS oldest
    FROM ${list.table} WHERE _changed_run_id = @runId AND _first_seen_run_id = @runId`;
  type Late = { count: number; late: number; oldest: number | null };
  const late = firstRow<Late>(sqlite, ofInserted, { runId, newest });
  if (late === undefined || late.count === 0) return;
  const mostMs = Math.max(0, newest - (late.oldest ?? newest));
  facts.see(list.resource, 'late', { count: late.late ?? 0, mostMs }, { new: late.count });
}

const codesOfTotals: readonly Finding['code'][] = [
  ...(['total_is_no_count', 'total_exceeds_records', 'records_beyond_total'] as const),
  ...(['page_contradicts_total', 'pages_short', 'copies_differ', 'newest_only', 'answers_old'] as const),
];

/** Notes what a whole reading shows of a list's order and of its totals. */
export function seeReading(
  { list, facts }: ListContext,
  { proof, answers }: ReadList,
  { order }: SavedState,
): void {
  if (proof === null) return;
  const { findings } = proof;
  const { resource } = list;
  const time = timeFieldOf(list)?.name;
  const ofAnswers = { answers: answers.length };
  if (order === 'none') facts.see(resource, 'order', { by: null }, ofAnswers);
  else if (order !== null) {
    const { direction, lateness, outliers } = order;
    const value = { by: time ?? 'id', direction, isExact: lateness === 0 && outliers === 0 };
    facts.see(resource, 'order', value, { ...ofAnswers, outOfOrderBy: lateness, outliers });
  }
  const isUnstable = findings.some(({ code }) => code === 'order_unstable');
  const isSeen = proof.verdict.isProven && proof.verdict.rule === 'key' && answers.length > 1;
  if (isUnstable || isSeen) facts.see(resource, 'order_stable', !isUnstable, ofAnswers);
  const ties = answers.map(({ page }) => tiesOn(page));
  if (time !== undefined && order !== null && order !== 'none')
    facts.see(resource, 'ties', Math.max(0, greatestOf(ties)), ofAnswers);
  const ofTotal = findings.find(({ code }) => codesOfTotals.includes(code));
  if (ofTotal?.code === 'total_is_no_count') facts.see(resource, 'total', ofTotal.kind, ofAnswers);
  else if (ofTotal !== undefined) facts.see(resource, 'total', ofTotal.code, ofAnswers);
  else if (proof.verdict.isProven) facts.see(resource, 'total', 'fits', ofAnswers);
}

/** The most neighbours on a page that share a key. */
function tiesOn({ keys }: PageItems): number {
  let [most, count] = [0, 0];
  for (let at = 0; at < keys.length; at++) {
    count = keys[at] === keys[at - 1] ? count + 1 : 1;
    if (count > most) most = count;
  }
  return most;
}
