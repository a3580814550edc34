// Versions that the mirror lacks, and their form: what means the same keeps that of its row.
//
// A service can write one thing in several ways: the elements of a set in another order, an instant in another zone. A record takes the
// form of its row, or the form in which the run has seen it first, before its content counts. So it is the same record for everything else.

import type Database from 'better-sqlite3';
import {
  contentOf,
  furtherFields,
  type RecordValues,
  shapeOf,
  withoutNames,
} from '../../contract/content.ts';
import { canonicalJson } from '../../contract/json.ts';
import { type ArrayField, type ListDefinition, type Scalar, scalarFields } from '../../contract/lists.ts';
import { contentBytesOf, identifying, type MirrorRecord } from '../../contract/record.ts';
import { isSameInstant } from '../../contract/time.ts';
import { tryToRead } from '../../errors.ts';
import type { RecordNo, VersionNo } from '../../proof/page-items.ts';
import type { KnownRow } from '../../proof/reconcile.ts';
import { ignoredFields } from '../tables/ignored-fields.ts';
import { type ListSql, rowsPerInsert } from './list-sql.ts';
import type { ListContext } from './mirror.ts';

/** What can be written otherwise in a version of a record. */
interface Form<Row = number | null> {
  /** 32 hexadecimal digits: the content of the version. */
  readonly content: string;
  /** The text of its time; null if it has none. */
  readonly time: string | null;
  readonly arrays: RecordValues['arrays'];
  readonly extra: string | null;
  /** The row that has it; null for a version that is only staged. */
  readonly row: Row;
}

/** The same as SQL gives it: the arrays as JSON. */
type RawForm<Row> = Omit<Form<Row>, 'arrays'> & { readonly arrays: string };

/** A version that the mirror lacks, under its numbers. */
interface StagedVersion {
  readonly record: RecordNo;
  readonly version: VersionNo;
  readonly values: Omit<MirrorRecord, 'position' | 'mentions'>;
}

/** The versions that the mirror lacks, in a temporary table, each under its number; and the forms that they and rows have. */
export class Versions {
  readonly #context: ListContext;
  readonly #sql: ListSql;
  /** Versions that are not written yet. */
  readonly #waiting: StagedVersion[] = [];
  /** The values of versions that are written together; one array for all statements. */
  readonly #bound: (Scalar | Buffer)[];
  readonly #insert: Database.Statement<unknown[]>;
  readonly #insertMany: Database.Statement<unknown[]>;
  readonly #read: Database.Statement<[number], Record<string, Scalar>>;
  readonly #formOfIdentity: Database.Statement<Scalar[], RawForm<number>>;
  #formsOfStaged: Database.Statement<[record: number], RawForm<null>> | null = null;
  #ignoredBy: ReturnType<typeof ignoredFields> | null = null;

  constructor(context: ListContext, sql: ListSql) {
    [this.#context, this.#sql] = [context, sql];
    const { sqlite } = context;
    this.#bound = new Array(sql.width * rowsPerInsert).fill(null);
    this.#insert = sqlite.prepare(sql.insert);
    this.#insertMany = sqlite.prepare(sql.insertMany);
    this.#read = sqlite.prepare(sql.staged);
    this.#formOfIdentity = sqlite.prepare(sql.formOfIdentity);
  }

  /** Stages a version; `write` writes it. */
  add(record: RecordNo, version: VersionNo, values: StagedVersion['values']): void {
    this.#waiting.push({ record, version, values });
  }

  write(): void {
    const [bound, { width }] = [this.#bound, this.#sql];
    let end = 0;
    for (const each of this.#waiting) {
      end = this.#bind(each, end);
      if (end < bound.length) continue;
      this.#insertMany.run(bound);
      end = 0;
    }
    for (let at = 0; at < end; at += width) this.#insert.run(bound.slice(at, at + width));
    this.#waiting.length = 0;
  }

  /** Puts the values of a version at a place, and returns the place behind them. */
  #bind({ record, version, values }: StagedVersion, from: number): number {
    const { scalars, key, extra, arrays } = values;
    const bound = this.#bound;
    let at = from;
    bound[at++] = version;
    bound[at++] = record;
    if (this.#context.list.identity.by !== 'id') bound[at++] = key;
    for (const value of scalars) bound[at++] = value;
    bound[at++] = extra;
    bound[at++] = contentBytesOf(values);
    if (this.#sql.hasArrays) bound[at++] = JSON.stringify(arrays);
    return at;
  }

  /** The values of a staged version. */
  valuesOf(record: RecordNo, version: VersionNo): RecordValues {
    const waiting = this.#waiting.findLast(each => each.version === version);
    if (waiting !== undefined) return waiting.values;
    const staged = this.#read.get(version) ?? {};
    return {
      id: this.#context.list.identity.by === 'id' ? record : null,
      scalars: scalarFields(this.#context.list).map(({ column }) => staged[column] ?? null),
      arrays: JSON.parse(String(staged.arrays ?? '[]')),
      extra: (staged._extra ?? null) as string | null,
    };
  }

  /** The form of the first row that has the identity of a record; undefined if there is none. */
  formOfRow(record: MirrorRecord): Form<number> | undefined {
    const { list, sumBefore } = this.#context;
    if (sumBefore.count === 0) return undefined;
    const found = this.#formOfIdentity.get(record.key, ...identifying(list, record));
    return found && { ...found, arrays: arraysIn(found.arrays) };
  }

  /** Whether a list with ids has a row with that id. */
  hasRow(id: number): boolean {
    return this.#context.sumBefore.count > 0 && this.#formOfIdentity.get(id) !== undefined;
  }

  /**
   * A record in the first known form that means the same, and the row that it is then; null if it is none. Its content is written in place.
   *
   * @param first the form of the first row of its identity.
   * @param duplicates all rows of its identity, if there are several.
   * @param staged its number if versions of it are staged; null if none are.
   */
  inKnownForm(
    record: MirrorRecord,
    first: Form<number> | undefined,
    duplicates: readonly KnownRow[] | undefined,
    staged: RecordNo | null,
  ): { readonly record: MirrorRecord; readonly row: number | null } {
    const { list, ignored } = this.#context;
    const rows = duplicates?.map(({ row }) => this.#ofRow(row)) ?? (first === undefined ? [] : [first]);
    const forms = staged === null ? rows : [...rows, ...this.#ofStaged(staged)];
    const otherwise = forms
      .map(form => ({ form, inForm: inFormOf(list, record, form) }))
      .filter(({ inForm }) => inForm !== record);
    for (const { form, inForm } of otherwise)
      if (contentOf(list, inForm, ignored) === form.content && !this.#isUnlike(form))
        return { record: writeContent(inForm, form.content), row: form.row };
    // It was edited: each of its fields can still be as it was.
    const whole = otherwise.filter(({ form }) => form.row === null || this.#isWhole(form.row));
    const inForm = whole.reduceRight((each, { form }) => inFormOf(list, each, form), record);
    if (inForm === record) return { record, row: null };
    return { record: writeContent(inForm, contentOf(list, inForm, ignored)), row: null };
  }

  #ofRow(row: number): Form<number> {
    const { list, table } = this.#context;
    const { content, record } = table.read(row);
    const { scalars, arrays, extra } = record;
    const time = scalars[shapeOf(list).timeAt];
    return { content, time: typeof time === 'string' ? time : null, arrays, extra, row };
  }

  /** The forms of a record's versions that were staged from earlier pages, the first one first. */
  #ofStaged(record: number): Form[] {
    const { sqlite } = this.#context;
    if (this.#formsOfStaged === null) {
      // Most lists never need it.
      sqlite.exec(this.#sql.indexStaged);
      this.#formsOfStaged = sqlite.prepare(this.#sql.formsOfStaged);
    }
    return this.#formsOfStaged.all(record).map(form => ({ ...form, arrays: arraysIn(form.arrays) }));
  }

  /** Whether it is the form of a row that no record finds. */
  #isUnlike({ row }: Form): boolean {
    return row !== null && this.#context.table.isUnlike(row);
  }

  /** Whether a row is as a run wrote it. */
  #isWhole(id: number): boolean {
    const { list, sqlite, table } = this.#context;
    const { record, content, changedRunId } = table.read(id);
    this.#ignoredBy ??= ignoredFields(sqlite, list.resource);
    return tryToRead(() => contentOf(list, record, this.#ignoredBy?.(changedRunId))) === content; // guard: a row that is as it was written
  }
}

function arraysIn(json: string): RecordValues['arrays'] {
  return tryToRead(() => JSON.parse(json)) ?? [];
}

/** Gives a record this content, in the buffer that it shares with the others of its page. */
function writeContent(record: MirrorRecord, content: string): MirrorRecord {
  record.contents.write(content, record.offset, 'hex');
  return record;
}

/** A record, in each set and time in which it means the same as a form, as that writes it; the same object if nothing is otherwise. */
export function inFormOf<Values extends RecordValues>(
  list: ListDefinition,
  record: Values,
  form: Pick<Form, 'time' | 'arrays' | 'extra'>,
): Values {
  const { timeAt, arrays: fields } = shapeOf(list);
  const time = record.scalars[timeAt];
  const isOtherText = typeof time === 'string' && form.time !== null && time !== form.time;
  const isOtherwise = isOtherText && isSameInstant(time, form.time); // guard: an instant that is written otherwise
  const scalars = isOtherwise ? record.scalars.with(timeAt, form.time) : record.scalars;
  const { arrays, extra } = fields.length === 0 ? record : setsInOrderOf(fields, record, form);
  const isSame = scalars === record.scalars && arrays === record.arrays && extra === record.extra;
  return isSame ? record : { ...record, scalars, arrays, extra };
}

type Sets = Pick<RecordValues, 'arrays' | 'extra'>;

/** The sets of a record, in the order of those that have the same elements. A set that fits no column is complete in `extra`. */
function setsInOrderOf(fields: readonly ArrayField[], record: Sets, form: Sets): Sets {
  const [further, others] = [record.extra, form.extra].map(extra => tryToRead(() => furtherFields(extra)));
  if (!further || !others) return record;
  let { arrays } = record;
  const moved: Record<string, unknown> = {};
  for (const [at, { name, kind }] of fields.entries()) {
    const isBeside = name in further;
    if (isBeside !== name in others) continue;
    const [own, known] = isBeside ? [further[name], others[name]] : [arrays[at], form.arrays[at]];
    const textOf = (element: unknown) => canonicalJson(kind === 'texts' ? element : withoutNames(element));
    const ordered = Array.isArray(own) && Array.isArray(known) ? inOrderOf(own, known, textOf) : null;
    if (ordered === null) continue;
    if (isBeside) moved[name] = ordered;
    // The columns have what fits them of it, in the same order.
    arrays = arrays.with(at, isBeside ? (form.arrays[at] ?? []) : ordered);
  }
  const isMoved = Object.keys(moved).length > 0;
  return { arrays, extra: isMoved ? JSON.stringify({ ...further, ...moved }) : record.extra };
}

/** The elements in the order of those that are known; null if they are others, or as often no more, or in that order already. */
function inOrderOf<Element>(
  own: readonly Element[],
  known: readonly unknown[],
  textOf: (element: unknown) => string,
): Element[] | null {
  if (own.length !== known.length) return null;
  const texts = known.map(textOf);
  if (own.every((element, at) => textOf(element) === texts[at])) return null;
  const left = Map.groupBy(own, textOf);
  const ordered = texts.flatMap(text => left.get(text)?.splice(0, 1) ?? []);
  return ordered.length === own.length ? ordered : null; // guard: a set with the same elements
}
