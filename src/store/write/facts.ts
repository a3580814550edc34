import { isObject } from '../../contract/json.ts';
import { tryToRead } from '../../errors.ts';
import { allRows, firstRow, type Sqlite } from '../tables/ask.ts';
import { type FactKind, type FactName, factKindOf, type ServiceChange } from '../tables/service-facts.ts';

type Table = { readonly [member: string]: unknown };

/** A value and what it rests on, in numbers. */
interface Sight {
  readonly value: unknown;
  readonly evidence: Table;
}

/** So many kinds, events and fields of a list have a row, each with a name of so many characters at most. */
const [rowsMax, nameMax] = [40, 100];
/** Of so many answers in a run, the first ones, times and sizes are kept. */
const samplesMax = 10_000;
/** So many forms of times are told of a field. */
const formsMax = 5;

/** What a run sees of the service, until its end. */
export class FactsSeen {
  readonly #seen = new Map<string, { resource: string; fact: string } & Sight>();

  /** Notes what a list, or `service`, was seen to be. `name` is of a field, a kind or an event. If it was seen before in this run, both count. */
  see(resource: string, fact: FactName, value: unknown, evidence: Table = {}, name?: string): void {
    if (name !== undefined && (name.length > nameMax || !name.isWellFormed())) return;
    const full = name === undefined ? fact : `${fact}.${name}`;
    const key = `${resource} ${full}`;
    const before = this.#seen.get(key);
    this.#seen.set(key, { resource, fact: full, ...merged(full, before, { value, evidence }) });
  }

  /**
   * Writes what was seen, in the transaction that ends the run, and forgets it. Returns what has changed since the runs before, without what
   * is measured. Of another service, or with other parameters, all begins anew.
   */
  write(sqlite: Sqlite, runId: number): readonly ServiceChange[] {
    const ofRuns = `SELECT count(DISTINCT json_array(base_url, query)) AS services FROM
      (SELECT base_url, query FROM sync_runs WHERE id <= ? ORDER BY id DESC LIMIT 2)`;
    if (firstRow<{ services: number }>(sqlite, ofRuns, runId)?.services === 2)
      sqlite.exec('DELETE FROM service_facts');
    const all = [...this.#seen.values()];
    this.#seen.clear();
    const rows = allRows<Row>(sqlite, 'SELECT resource, fact, value, evidence FROM service_facts');
    const known = new Map(rows.map(row => [`${row.resource} ${row.fact}`, row]));
    const counts = Map.groupBy(known.keys(), key => key.split('.', 1)[0] ?? '');
    const left = new Map([...counts].map(([group, keys]) => [group, rowsMax - keys.length]));
    const changes: ServiceChange[] = [];
    const put = sqlite.prepare(upsert);
    for (const { resource, fact, ...now } of all) {
      const row = known.get(`${resource} ${fact}`);
      const [group = ''] = `${resource} ${fact}`.split('.', 1);
      const room = left.get(group) ?? rowsMax;
      if (row === undefined && fact.includes('.')) {
        if (room <= 0) continue;
        left.set(group, room - 1);
      }
      // What another program wrote there is none.
      const before =
        row &&
        tryToRead(() => ({ value: JSON.parse(row.value), evidence: tableIn(JSON.parse(row.evidence)) }));
      const { value, evidence } = merged(fact, before, { ...now, value: finished(fact, now.value) });
      const text = JSON.stringify(value);
      const isOther = before != null && text !== row?.value;
      const runs = Number(before?.evidence.runs ?? 0) + 1;
      const json = JSON.stringify({ ...evidence, runs });
      put.run({ resource, fact, text, evidence: json, runId, isOther: Number(isOther) });
      const kind = factKindOf(fact);
      const isNewOne = row === undefined && kind?.value === 'text' && 'each' in kind && counts.has(group);
      if (isNewOne || (isOther && isTold(fact, kind, before?.value, value)))
        changes.push({ resource, fact, value, previousValue: before?.value ?? null });
    }
    return changes;
  }
}

type Row = Record<'resource' | 'fact' | 'value' | 'evidence', string>;

const upsert = `INSERT INTO service_facts (resource, fact, value, first_seen_run_id, last_seen_run_id, evidence)
  VALUES (@resource, @fact, @text, @runId, @runId, @evidence) ON CONFLICT DO UPDATE SET
    previous_value = iif(@isOther, value, previous_value), changed_run_id = iif(@isOther, @runId, changed_run_id),
    value = @text, last_seen_run_id = @runId, evidence = @evidence`;

/** A token that lives a little shorter is none: its life is known from its first use only. */
const shorterBy = 0.8;

function isTold(fact: string, kind: FactKind | undefined, before: unknown, now: unknown): boolean {
  if (fact === 'token_ms') return Number(now) < shorterBy * Number(before);
  return kind?.isMeasured !== true;
}

type Merge = (before: Sight, now: Sight) => Sight;

const most: Merge = (before, now) => (Number(now.value) >= Number(before.value) ? now : before);
const added: Merge = ({ evidence }, now) => ({ ...now, evidence: sums(evidence, now.evidence) });

/** Those of single answers in a run. */
const sampled: Merge = (before, now) => {
  if (!Array.isArray(before.value) || !Array.isArray(now.value)) return now;
  if (before.value.length < samplesMax) before.value.push(...now.value);
  const answers = Number(before.evidence.answers) + Number(now.evidence.answers);
  return { value: before.value, evidence: { answers } };
};

/** What two sights say together; without a rule the newer one counts. */
const merges: Readonly<Partial<Record<FactName, Merge>>> = {
  // A person can ask for smaller pages than the service serves.
  page_size: (before, now) => (now.evidence.isGreatest === true ? now : most(before, now)),
  answer_ms: sampled,
  answer_bytes: sampled,
  compression: sampled,
  etag: sampled,
  negative_total: sampled,
  orphans: most,
  ties: most,
  age_ms: most,
  kind: added,
  event: added,
  failures: ({ value }, now) => ({ ...now, value: sums(value, now.value) }),
  retry_after: (before, now) => ({ ...now, value: greatest(before.value, now.value) }),
  late: (before, now) => {
    const { count } = sums(before.value, now.value);
    const { evidence } = added(before, now);
    return { value: { ...greatest(before.value, now.value), count }, evidence };
  },
  field: (before, now) => {
    const [one, other] = [before.value, now.value].map(tableIn);
    const union = (name: string, max: number) =>
      [...new Set([one?.[name], other?.[name]].flatMap(list => (Array.isArray(list) ? list : [])))]
        .sort()
        .slice(0, max);
    const times = union('times', formsMax);
    const { longest } = greatest(before.evidence, now.evidence);
    const value = { ...other, types: union('types', rowsMax), ...(times.length > 0 && { times }) };
    return {
      value,
      evidence: { ...sums(before.evidence, now.evidence), ...(longest !== undefined && { longest }) },
    };
  },
};

function merged(fact: string, before: Sight | null | undefined, now: Sight): Sight {
  const merge = factKindOf(fact) && merges[fact.split('.', 1)[0] as FactName];
  return before == null || merge === undefined ? now : merge(before, now);
}

/** What all answers of a run say together. */
function finished(fact: string, value: unknown): unknown {
  if (!Array.isArray(value)) return value;
  if (fact === 'compression') return value.includes(true) ? 'gzip' : 'none';
  if (fact === 'etag' || fact === 'negative_total') return value.includes(true);
  if (fact !== 'answer_ms' && fact !== 'answer_bytes') return value;
  const sorted = value.map(Number).sort((a, b) => a - b);
  const at = (share: number) => Math.round(10 * (sorted[Math.ceil(share * sorted.length) - 1] ?? 0)) / 10;
  const ofTimes = fact === 'answer_ms' && { p95: at(0.95) };
  return { median: at(0.5), ...ofTimes, most: at(1) };
}

const tableIn = (value: unknown): Table => (isObject(value) ? value : {});

/** The numbers of two tables, by name; of what is no number the newer. */
function byNumbers(before: unknown, now: unknown, join: (one: number, other: number) => number): Table {
  const [one, other] = [tableIn(before), tableIn(now)];
  const joined = Object.entries(other).map(([name, value]) => {
    const known = one[name];
    return [name, typeof known === 'number' && typeof value === 'number' ? join(known, value) : value];
  });
  return { ...one, ...Object.fromEntries(joined) };
}
const sums = (before: unknown, now: unknown) => byNumbers(before, now, (one, other) => one + other);
const greatest = (before: unknown, now: unknown) => byNumbers(before, now, Math.max);
