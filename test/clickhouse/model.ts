import { createHash } from 'node:crypto';
import { publishedTables } from '../../src/publish/tables.ts';
import { Random } from '../../src/sample/random.ts';
import type { Change } from '../../src/store/read/change-cursor.ts';
import type { EndedRun, PublishSource, SourceRow } from '../../src/store/read/publish-rows.ts';

/** The values of a record, in the order of the table's fields. */
export type Values = SourceRow['values'];

/** One change of a run. A removal has no values. */
export interface Step {
  readonly resource: string;
  readonly id: number;
  readonly values: Values | null;
  readonly extra?: string | null;
}

type SourceChange = Omit<Change, 'before'>;

interface ModelRun extends EndedRun {
  readonly rows: ReadonlyMap<string, readonly SourceRow[]>;
  readonly changes: readonly SourceChange[];
  /** All current rows after it, by list and id. */
  readonly standing: ReadonlyMap<string, ReadonlyMap<number, SourceRow>>;
}

const modulus = 1n << 128n;

/** A mirror of plain data, which knows what it was after every run. */
export class ModelMirror {
  readonly mirrorId: string;
  readonly runs: ModelRun[] = [];
  #nextStartMs: number;

  constructor(mirrorId = 'a5b0c1d2-0000-4000-8000-000000000001', startMs = Date.UTC(2026, 10, 20)) {
    this.mirrorId = mirrorId;
    this.#nextStartMs = startMs;
  }

  /** Ends a run that did these steps. */
  run(steps: readonly Step[]): this {
    const runId = this.runs.length + 1;
    this.#nextStartMs += 3_600_001;
    const startedAt = new Date(this.#nextStartMs).toISOString();
    const standing = new Map(
      publishedTables.map(({ resource }) => [resource, new Map(this.#standingOf(resource))]),
    );
    const changes: SourceChange[] = [];
    const removed = new Map<string, SourceRow>();
    for (const step of steps) {
      const rows = standing.get(step.resource) ?? new Map<number, SourceRow>();
      const before = rows.get(step.id);
      const row = step.values === null ? undefined : rowOf(step, step.values, runId, before);
      if (row === undefined && before !== undefined) {
        rows.delete(step.id);
        removed.set(`${step.resource} ${step.id}`, { ...before, isRemoved: true });
      }
      if (row !== undefined) rows.set(step.id, row);
      const last = row ?? before;
      if (last !== undefined) changes.push(changeOf(step, last, runId, startedAt, operationOf(row, before)));
    }
    const rows = new Map(
      publishedTables.map(({ resource }) => [
        resource,
        [
          ...[...(standing.get(resource)?.values() ?? [])].filter(row => row.changedRunId === runId),
          // Last, for the order within a run must not matter.
          ...[...removed].filter(([key]) => key.startsWith(`${resource} `)).map(([, row]) => row),
        ],
      ]),
    );
    this.runs.push({ runId, startedAt, rows, changes, standing });
    return this;
  }

  /** As a backup would have it, with later runs that start at other times. */
  restoredTo(runId: number): ModelMirror {
    const restored = new ModelMirror(this.mirrorId, this.#nextStartMs + 500);
    restored.runs.push(...this.runs.slice(0, runId));
    return restored;
  }

  /** The mirror as it is now. */
  readonly open = (): PublishSource => {
    const runs = this.runs.slice();
    const at = (runId: number) => runs[runId - 1];
    return {
      mirrorId: this.mirrorId,
      runs: () => runs,
      rowCountSince: runId => runs.slice(runId).reduce((sum, { changes }) => sum + changes.length, 0),
      rows: (resource, runId) => at(runId)?.rows.get(resource) ?? [],
      lastRunBeforeRebuild: 0,
      changes: runId => at(runId)?.changes ?? [],
      sumAfter: (resource, runId) => sumOf(at(runId)?.standing.get(resource) ?? new Map()),
      [Symbol.dispose]: () => undefined,
    };
  };

  /** The current rows after the newest run, in the order of their ids. */
  rowsOf(resource: string): SourceRow[] {
    return [...this.#standingOf(resource).values()].sort((a, b) => a.id - b.id);
  }

  #standingOf(resource: string): ReadonlyMap<number, SourceRow> {
    return this.runs.at(-1)?.standing.get(resource) ?? new Map();
  }
}

function rowOf({ id, extra }: Step, values: Values, runId: number, before: SourceRow | undefined): SourceRow {
  const content = createHash('sha256')
    .update(JSON.stringify([id, values, extra ?? null]))
    .digest('hex')
    .slice(0, 32);
  return {
    id,
    values,
    firstSeenRunId: before?.firstSeenRunId ?? runId,
    changedRunId: runId,
    extra: extra ?? null,
    content,
    isRemoved: false,
  };
}

function operationOf(row: SourceRow | undefined, before: SourceRow | undefined): Change['operation'] {
  if (row === undefined) return 'removal';
  return before === undefined || row.firstSeenRunId === row.changedRunId ? 'insert' : 'update';
}

function changeOf(
  { resource, id }: Step,
  { values }: SourceRow,
  runId: number,
  changedAt: string,
  operation: Change['operation'],
): SourceChange {
  return { runId, changedAt, resource, recordId: id, operation, record: JSON.stringify({ id, values }) };
}

function sumOf(rows: ReadonlyMap<number, SourceRow>): ReturnType<PublishSource['sumAfter']> {
  const sum = [...rows.values()].reduce(
    (total, { content }) => (total + BigInt(`0x${content}`)) % modulus,
    0n,
  );
  return { recordCount: rows.size, contentSum: sum.toString(16).padStart(32, '0') };
}

/** Numbers that look random and are the same for the same seed, from 0 up to 1. */
export function randomOf(seed: number): () => number {
  const chance = new Random(seed);
  return () => chance.fraction();
}

/** A mirror whose runs insert, update, remove and bring back records of all lists, as a seed has it. */
export function randomMirror(seed: number, runCount: number, rowsPerRun: number): ModelMirror {
  const mirror = new ModelMirror();
  const random = randomOf(seed);
  for (let run = 1; run <= runCount; run++) mirror.run(randomSteps(random, rowsPerRun));
  return mirror;
}

/** The random steps of one run: a record changes once, or is removed and returns. */
export function randomSteps(random: () => number, rowsPerRun: number): Step[] {
  const steps = new Map<string, Step[]>();
  for (let at = 0; at < rowsPerRun; at++) {
    const table = publishedTables[Math.floor(random() * publishedTables.length)];
    if (table === undefined) continue;
    const { resource, fields } = table;
    const id = Math.floor(random() * rowsPerRun) - 2;
    const put = (): Step => ({
      resource,
      id,
      values: fields.map(({ type }) => sampleValue(type, Math.floor(random() * 1000))),
      extra: random() < 0.1 ? `{"n":${id}}` : null,
    });
    const remove: Step = { resource, id, values: null };
    const dice = random();
    const some = dice < 0.3 ? [remove] : dice < 0.4 ? [remove, put()] : [put()];
    steps.set(`${resource} ${id}`, some);
  }
  return [...steps.values()].flat();
}

/** A value of a column of that type; some are null or have characters that must be escaped. */
export function sampleValue(type: string, n: number): Values[number] {
  if (type.startsWith('Array(String')) return n % 3 === 0 ? [] : [`event.${n}`, "it's\t\\\n"];
  if (type.startsWith('Array(')) return n % 3 === 0 ? [] : [n, null, -n];
  if (n % 7 === 0) return null;
  return type.includes('Int') ? n : `text ${n} “ü” '\\\n\u0000`;
}
