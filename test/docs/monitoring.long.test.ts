import { execFile, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { spawnCli } from '../support/run-cli.ts';
import { setScene } from '../support/scene.ts';

const run = promisify(execFile);
const root = join(import.meta.dirname, '..', '..');

/** Each metric that docmirror shows, with the names of its labels. */
let there: Map<string, Set<string>>;

beforeAll(async () => {
  await using scene = await setScene();
  const file = join(scene.folder, 'acme.prom');
  Object.assign(scene.env, { DOCMIRROR_LABELS: 'tenant=acme', DOCMIRROR_METRICS_FILE: file });
  scene.service.lists.collections.push('"no object"');
  await scene.sync();
  expect(await scene.run('backup', scene.folder, '--keep', '3')).toMatchObject({ code: 0 });
  const watched = ['watch', '--schedule', '0 0 1 1 *', '--http', '127.0.0.1:0'];
  const texts = [file, join(scene.folder, 'acme-backup.prom')].map(path => readFileSync(path, 'utf8'));
  for (const args of [watched, ['serve', '--port', '0']]) {
    await using cli = spawnCli(args, { env: scene.env });
    const [said] = await once(cli.child.stdout as NonNullable<typeof cli.child.stdout>, 'data');
    const url = String(said).trim().split(' ').at(-1);
    texts.push(await (await fetch(`${url}/metrics`)).text());
  }
  there = new Map();
  for (const [, name = '', labels = ''] of texts
    .join('\n')
    .matchAll(/^(docmirror_\w+)(?:\{(.*)\})? \S+$/gm)) {
    const known = there.get(name) ?? new Set();
    for (const [, label = ''] of labels.matchAll(/(\w+)="/g)) known.add(label);
    there.set(name, known);
  }
});

/** The metrics in an expression that docmirror does not show, and the labels in it that they do not have. */
function strangersIn(expr: string): string[] {
  const used = [...expr.matchAll(/\b(docmirror_\w+)(?:\{([^}]*)\})?/g)];
  return used.flatMap(([, name = '', selector = '']) => {
    const labels = there.get(name);
    if (labels === undefined) return [name];
    const selected = [...selector.matchAll(/(\w+)\s*[=!]~?"/g)].map(([, label = '']) => label);
    return selected.filter(label => !labels.has(label)).map(label => `${name}{${label}}`);
  });
}

test('the alerts, the dashboard and the pages name only metrics and labels that /metrics and the files have', () => {
  expect(there.size).toBeGreaterThan(25);
  const files = ['deploy/prometheus-rules.yaml', 'deploy/grafana/docmirror.json', 'docs/running.md'];
  const texts = files.map(path => readFileSync(join(root, path), 'utf8').replaceAll('\\"', '"'));
  expect(texts.flatMap(strangersIn)).toEqual([]);
  expect(strangersIn('docmirror_runs_total{colour="red"} or docmirror_no')).toEqual([
    'docmirror_runs_total{colour}',
    'docmirror_no',
  ]);
});

const unitTests = join(root, 'test', 'docs', 'prometheus-rules.yaml');

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

describe.skipIf(!hasPromtool)(`promtool${hasPromtool ? '' : ' (skipped: it is not installed)'}`, () => {
  test('finds that each alert fires when it should, and for the right tenant', async () => {
    expect((await run('promtool', ['test', 'rules', unitTests])).stdout).toContain('SUCCESS');
  });
});
