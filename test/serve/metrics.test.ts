import { statfsSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import parsePrometheus from 'parse-prometheus-text-format';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { labelledFigures, metricsText } from '../../src/serve/metrics.ts';
import { type Scene, setScene } from '../support/scene.ts';
import { documentExport } from '../support/stand-in.ts';

interface Family {
  readonly name: string;
  readonly type: string;
  readonly metrics: readonly { readonly value: string; readonly labels?: Record<string, string> }[];
}

let scene: Scene;
const textOf = (database: string, labels = {}, trigger: string | null = null) =>
  metricsText([labelledFigures(database, labels, trigger)]);

describe('the metrics of a mirror', () => {
  let families: ReadonlyMap<string, Family>;
  const startedAt = Date.now() / 1000;

  beforeAll(async () => {
    scene = await setScene();
    await scene.sync();
    const { lists } = scene.service;
    lists['document-exports'].splice(0, 2, documentExport(1, { sourceDocumentTitle: 'new title' }));
    lists.collections.push({ id: 999, name: 'one more' });
    await scene.sync();
    scene.service.options.status = { webhooks: 500, collections: 500, 'document-exports': 500 };
    await scene.sync('--give-up-after', '1500ms');
    const parsed = parsePrometheus(textOf(scene.database)) as Family[];
    families = new Map(parsed.map(family => [family.name, family]));
  });
  afterAll(() => scene[Symbol.asyncDispose]());

  function valuesOf(name: string): Record<string, number> {
    const family = families.get(name);
    if (family === undefined) throw new Error(`There is no metric ${name}.`);
    return Object.fromEntries(
      family.metrics.map(({ labels, value }) => [Object.values(labels ?? {}).join(' '), Number(value)]),
    );
  }

  test('are accepted by a parser of Prometheus text, each with help and a type', () => {
    expect(families.size).toBeGreaterThan(20);
    expect([...families.values()].filter(({ type }) => !['COUNTER', 'GAUGE'].includes(type))).toEqual([]);
  });

  test('count runs by how they ended', () => {
    const runs = valuesOf('docmirror_runs_total');
    expect(Object.keys(runs)).toHaveLength(12);
    const counted = Object.fromEntries(Object.entries(runs).filter(([, count]) => count > 0));
    expect(counted).toEqual({ 'completed manual': 2, 'failed manual': 1 });
    expect(valuesOf('docmirror_runs_in_progress')).toEqual({ '': 0 });
  });

  test("give each list's records, changes, traffic and completeness", () => {
    const lists = (exports: number, collections: number) => ({
      'document-exports': exports,
      collections,
      webhooks: 3,
    });
    expect(valuesOf('docmirror_list_records')).toEqual(lists(129, 8));
    expect(valuesOf('docmirror_list_inserted_total')).toEqual(lists(130, 8));
    for (const name of ['updated', 'removed'])
      expect(valuesOf(`docmirror_list_${name}_total`)['document-exports']).toBe(1);
    expect(valuesOf('docmirror_list_retries_total').collections).toBeGreaterThan(0);
    expect(valuesOf('docmirror_list_received_bytes_total')['document-exports']).toBeGreaterThan(10_000);
    expect(Object.values(valuesOf('docmirror_list_completeness'))).toEqual(Array(9).fill(0));
    expect(valuesOf('docmirror_list_last_run_duration_seconds').webhooks).toBeGreaterThan(0);
    // The last completed run, not the failed one after it.
    for (const time of Object.values(valuesOf('docmirror_list_last_completed_timestamp_seconds'))) {
      expect(time).toBeGreaterThan(startedAt - 1);
      expect(time).toBeLessThan(Date.now() / 1000);
    }
  });

  test('say how large the mirror is, and how much room its disk has', () => {
    expect(valuesOf('docmirror_mirror_bytes')).toEqual({ '': statSync(scene.database).size });
    const { bavail, bsize } = statfsSync(scene.folder);
    const free = valuesOf('docmirror_disk_free_bytes')[''] ?? 0;
    expect(Math.abs(free - bavail * bsize)).toBeLessThan(2 ** 30);
  });

  test('have each series before the first run, and none if the mirror can not be read', async () => {
    const seriesOf = (database: string) => {
      const lines = textOf(database, { tenant: 'acme' }, 'cron').split('\n');
      const samples = lines.filter(line => line.startsWith('docmirror_'));
      return new Map(samples.map(line => [line.slice(0, line.lastIndexOf(' ')), line.split(' ').at(-1)]));
    };
    await using fresh = await setScene();
    await fresh.sync();
    const before = seriesOf(join(fresh.folder, 'missing.sqlite'));
    const afterOne = [...seriesOf(fresh.database).keys()].sort();
    expect(afterOne).toEqual([...seriesOf(scene.database).keys()].sort());
    expect(afterOne.filter(name => name.includes('"cron"'))).toHaveLength(6);
    // These have no number yet: a 0 would be wrong.
    const unknown =
      /_(records|last_completed_timestamp_seconds|last_run_(duration_seconds|pages_per_second))\{/;
    expect([...before.keys()].sort()).toEqual(afterOne.filter(name => !unknown.test(name)));
    const constant = /^docmirror_(build_info|disk_free_bytes)/;
    const values = [...before].filter(([name]) => !constant.test(name));
    expect(new Set(values.map(([, value]) => value))).toEqual(new Set(['0']));
    const damaged = join(fresh.folder, 'damaged.sqlite');
    writeFileSync(damaged, 'no mirror');
    expect([...seriesOf(damaged).keys()].map(name => name.split('{')[0])).toEqual([
      'docmirror_build_info',
      'docmirror_mirror_readable',
      'docmirror_mirror_bytes',
      'docmirror_disk_free_bytes',
      'docmirror_runs_in_progress',
      'docmirror_runs_died',
    ]);
  });

  test('have their own labels or, without any, those of the newest run', async () => {
    await using labelled = await setScene();
    await labelled.sync('--labels', 'tenant=acme');
    expect(textOf(labelled.database)).toContain('docmirror_mirror_readable{tenant="acme"} 1');
    const own = textOf(labelled.database, { env: 'a "b"' });
    expect(own).toContain('docmirror_mirror_readable{env="a \\"b\\""} 1');
    expect(own).not.toContain('acme');
    const odd = { path: 'C:\\new\nline', both: '\\"' };
    const [sample] = /^docmirror_mirror_readable\{.*$/m.exec(textOf(labelled.database, odd)) ?? [];
    expect(sample).toBe(String.raw`docmirror_mirror_readable{path="C:\\new\nline",both="\\\""} 1`);
  });
});
