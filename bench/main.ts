// Measures docmirror as whole processes, and compares it with the fastest way to read the same pages and write the same
// rows, and with a script that a developer would write. With --only-script it does only the latter.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir, totalmem } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import Database from 'better-sqlite3';
import { bundle } from '../build/bundle.ts';
import type { ListState, References } from './records.ts';

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '200000' },
    'page-sizes': { type: 'string', default: '500,50' },
    rounds: { type: 'string', default: '3' },
    out: { type: 'string' },
    'only-script': { type: 'boolean', default: false },
  },
});

const folder = mkdtempSync(join(tmpdir(), 'docmirror-bench-'));
const here = import.meta.dirname;
const cli = join(here, '..', 'dist', 'cli.js');
const rounds = Number(values.rounds);
const hasSqlite = spawnSync('sqlite3', ['--version']).status === 0;
/** Debian's own Python, for which its package of sqlite-utils is made. */
const python = '/usr/bin/python3';
const hasSqliteUtils = spawnSync(python, ['-c', 'import sqlite_utils']).status === 0;
await bundle('dist');

interface Measured {
  readonly seconds: number;
  /** Processor time, to the last look at the process while it ran. */
  readonly cpuSeconds: number;
  readonly peakMb: number;
  readonly requests: number | null;
}

interface Server {
  readonly url: string;
  readonly child: ChildProcess;
}

async function startServer(
  records: number,
  pageSize: number,
  latencyMs = 0,
  references: References = 'in order',
): Promise<Server> {
  const args = [join(here, 'page-server.ts'), records, pageSize, latencyMs, references].map(String);
  const child = spawn(process.execPath, ['--max-old-space-size=8192', ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [url] = await once(createInterface(child.stdout), 'line');
  return { url, child };
}

/** Runs a command to its end; its peak memory and processor time are read from the system while it runs. */
async function measure(command: string, args: string[], env: Record<string, string> = {}): Promise<Measured> {
  const startedAt = performance.now();
  const child = spawn(command, args, {
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.on('data', chunk => (output += chunk));
  let peakKb = 0;
  let cpuSeconds = 0;
  const watch = setInterval(() => {
    peakKb = Math.max(peakKb, peakOf(child.pid));
    cpuSeconds = Math.max(cpuSeconds, cpuSecondsOf(child.pid));
  }, 20);
  const [code] = await once(child, 'close');
  clearInterval(watch);
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}: ${output}`);
  const requests = args.includes('--json') ? JSON.parse(output).resources[0].requests : null;
  return { seconds: (performance.now() - startedAt) / 1000, cpuSeconds, peakMb: peakKb / 1024, requests };
}

function peakOf(pid: number | undefined): number {
  try {
    return Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

/** Linux counts it in hundredths of a second, user and system apart. */
function cpuSecondsOf(pid: number | undefined): number {
  try {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) / 100;
  } catch {
    return 0;
  }
}

function sync(
  server: Server,
  database: string,
  pageSize: number,
  flags: string[],
  env: Record<string, string> = {},
) {
  return measure(process.execPath, [cli, 'sync', '--resource', 'document-exports', '--json', ...flags], {
    DOCMIRROR_BASE_URL: server.url,
    DOCMIRROR_TOKEN: 'bench',
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'warn',
    DOCMIRROR_PAGE_SIZE: String(pageSize),
    ...env,
  });
}

async function setState(server: Server, state: ListState): Promise<void> {
  await (await fetch(`${server.url}/state?is=${state}`)).text();
}

/** The rows of a mirror as CSV, and empty tables of the same shape, for `sqlite3 .import`. */
function prepareImport(database: string): { csv: string; schema: string } {
  const csv = join(folder, 'rows.csv');
  const schema = join(folder, 'schema.sql');
  const columns = execFileSync('sqlite3', [
    database,
    "SELECT group_concat(name) FROM pragma_table_info('document_exports')",
  ])
    .toString()
    .trim();
  const texts = columns.replace('_content', 'hex(_content)');
  writeFileSync(
    csv,
    execFileSync('sqlite3', ['-csv', database, `SELECT ${texts} FROM document_exports`], {
      maxBuffer: 2 ** 31 - 1,
    }),
  );
  const db = new Database(database, { readonly: true });
  const sqls = db
    .prepare(
      "SELECT sql FROM sqlite_schema WHERE tbl_name = 'document_exports' AND sql IS NOT NULL AND type <> 'view' ORDER BY type DESC",
    )
    .pluck()
    .all();
  db.close();
  // The blobs are hexadecimal text, because CSV can't contain bytes.
  writeFileSync(schema, `${sqls.join(';\n').replaceAll('blob', 'text')};\n`);
  return { csv, schema };
}

async function measureImport({ csv, schema }: { csv: string; schema: string }): Promise<Measured> {
  const database = join(folder, 'import.sqlite');
  rmSync(database, { force: true });
  execFileSync('sqlite3', [database, `.read ${schema}`]);
  return measure('sqlite3', [
    database,
    '-cmd',
    'PRAGMA journal_mode=WAL',
    '-cmd',
    '.mode csv',
    `.import ${csv} document_exports`,
  ]);
}

function read(database: string, ...words: string[]): Promise<Measured> {
  return measure(process.execPath, [cli, ...words], {
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'warn',
  });
}

/** Commands that read and copy a mirror, each with the time of SQLite's own program for the same work. */
function readingSteps(database: string): Step[] {
  const lastRun = () =>
    execFileSync('sqlite3', [database, 'SELECT max(id) - 1 FROM sync_runs']).toString().trim();
  const copy = join(folder, 'copy.sqlite');
  const afresh = (run: () => Promise<Measured>) => () => {
    rmSync(copy, { force: true });
    return run();
  };
  const plain = (sql: string) => measure('sqlite3', [database, sql]);
  return [
    ['sqlite3 .dump', () => plain('.dump')],
    ['verify', () => read(database, 'verify')],
    ['VACUUM INTO', afresh(() => plain(`VACUUM INTO '${copy}'`))],
    ['backup', afresh(() => read(database, 'backup', copy))],
    [
      'export as of the run before',
      () => read(database, 'export', '--out', join(folder, 'as-of'), '--as-of-run', lastRun()),
    ],
    ['plain read of all changes', () => plain('SELECT * FROM changes')],
    ['all changes shown', () => read(database, 'changes', '--since-run', '0', '--format', 'ndjson')],
  ];
}

/** Runs of a command that takes hardly longer than starting Node.js; one alone would show little. */
const shortRuns = 7;

/** Commands that read no list, or hardly anything of one. */
const shortWords = ['--version', '--help', 'status', 'runs'];
const bareStart = 'node -e 0';

/** The time that users wait each time: how long the most frequent commands take. */
function startingSteps(database: string): Step[] {
  const several = (args: string[]) => async () => {
    const runs: Measured[] = [];
    for (let run = 0; run < shortRuns; run++)
      runs.push(await measure(process.execPath, args, { DOCMIRROR_DATABASE: database }));
    return medianOf(runs);
  };
  return [[bareStart, several(['-e', '0'])], ...shortWords.map((word): Step => [word, several([cli, word])])];
}

/** A simple script for the same task: it reads the list once, upserts page by page, and proves nothing. */
function scriptWithSqliteUtils(server: Server, pageSize: number): Promise<Measured> {
  const database = join(folder, 'script.sqlite');
  for (const end of ['', '-wal', '-shm']) rmSync(database + end, { force: true });
  const script = join(here, 'peers', 'sqlite_utils_script.py');
  return measure(python, [script, server.url, database, String(pageSize)]);
}

type Step = readonly [name: string, run: () => Promise<Measured>];

/** The steps of one round, in an order in which each finds the state that it needs. */
function stepsOf(
  server: Server,
  pageSize: number,
  importable: { csv: string; schema: string } | null,
): Step[] {
  const database = join(folder, `mirror-${pageSize}.sqlite`);
  const fresh = () => {
    for (const end of ['', '-wal', '-shm', '.lock']) rmSync(database + end, { force: true });
  };
  const drain = (then: string) =>
    measure(process.execPath, [join(here, 'drain.ts'), server.url, then, '4', String(pageSize)]);
  const from = (state: ListState, flags: string[], to: ListState) => async () => {
    await setState(server, state);
    await sync(server, database, pageSize, ['--full']);
    await setState(server, to);
    return sync(server, database, pageSize, flags);
  };
  return [
    ['bare drain', () => drain('throw away')],
    ['drain + JSON.parse', () => drain('parse')],
    ...(importable === null ? [] : ([['sqlite3 .import', () => measureImport(importable)]] as Step[])),
    ...(hasSqliteUtils
      ? ([['script with sqlite-utils', () => scriptWithSqliteUtils(server, pageSize)]] as Step[])
      : []),
    [
      'first sync',
      async () => {
        await setState(server, 'base');
        fresh();
        return sync(server, database, pageSize, []);
      },
    ],
    ['full sync, no changes', () => sync(server, database, pageSize, ['--full'])],
    ['incremental, nothing new', () => sync(server, database, pageSize, [])],
    ['full sync, 1 % changed', from('base', ['--full'], 'changed')],
    [
      // A list is read twice as a whole if it is not known that it grows at one end and changes nowhere else.
      'full sync, grown for the first time',
      () => {
        fresh();
        return from('base', ['--full'], 'hundred-new')();
      },
    ],
    ['full sync, 1 % appended', from('hundred-new', ['--full'], 'appended')],
    ['full sync, all shifted', from('base', ['--full'], 'shifted')],
    ['incremental, 100 new', from('base', [], 'hundred-new')],
    ...startingSteps(database),
    ...(importable === null ? [] : readingSteps(database)),
  ];
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] as number;
}

async function bench(records: number, pageSize: number): Promise<Map<string, Measured>> {
  const server = await startServer(records, pageSize);
  try {
    const seed = join(folder, 'seed.sqlite');
    await sync(server, seed, pageSize, []);
    const steps = stepsOf(server, pageSize, hasSqlite ? prepareImport(seed) : null);
    rmSync(seed, { force: true });
    const all = new Map<string, Measured[]>();
    for (let round = 0; round < rounds; round++) {
      for (const [name, run] of steps) all.set(name, [...(all.get(name) ?? []), await run()]);
    }
    return new Map([...all].map(([name, runs]) => [name, medianOf(runs)]));
  } finally {
    server.child.kill();
  }
}

function medianOf(runs: readonly Measured[]): Measured {
  const [first] = runs as [Measured];
  return {
    seconds: median(runs.map(run => run.seconds)),
    cpuSeconds: median(runs.map(run => run.cpuSeconds)),
    peakMb: median(runs.map(run => run.peakMb)),
    requests: first.requests,
  };
}

function tableOf(records: number, results: ReadonlyMap<string, Measured>): string {
  const rows = [...results].map(([name, { seconds, cpuSeconds, peakMb, requests }]) => {
    const isShort = name === bareStart || shortWords.includes(name);
    const rate = isShort ? '' : Math.round(records / seconds).toLocaleString('en-US');
    return `| ${name} | ${seconds.toFixed(2)} | ${cpuSeconds.toFixed(2)} | ${rate} | ${Math.round(peakMb)} | ${requests ?? ''} |`;
  });
  return [
    '| what | seconds | of processor | records/s | peak MB | requests |',
    '|---|--:|--:|--:|--:|--:|',
    ...rows,
  ].join('\n');
}

/** The figures that are compared, and the greatest ratio between them. */
const goals: readonly [name: string, over: string, goal: number, of?: 'seconds' | 'cpuSeconds'][] = [
  ['first sync', 'sqlite3 .import', 1.4],
  ['first sync', 'script with sqlite-utils', 0.35, 'cpuSeconds'],
  ['full sync, no changes', 'bare drain', 1.8],
  ['full sync, 1 % changed', 'drain + JSON.parse', 4],
  ['full sync, all shifted', 'drain + JSON.parse', 4],
  ['full sync, 1 % appended', 'bare drain', 2],
  ['verify', 'sqlite3 .dump', 3],
  ['backup', 'VACUUM INTO', 3],
  ['export as of the run before', 'sqlite3 .dump', 3],
  ['all changes shown', 'plain read of all changes', 3],
  ['--version', bareStart, 4],
  ['--help', bareStart, 4],
  ['status', bareStart, 6],
  ['runs', bareStart, 6],
  // A quarter of a second if Node.js starts in 25 ms.
  ['incremental, nothing new', bareStart, 10],
];

/** The most memory for a sync of up to a million records, in MB. */
const peakMbMax = 256;
const recordsInPeakMax = 1_000_000;

function peaksOf(records: number, results: ReadonlyMap<string, Measured>): string {
  const rows = ['first sync', 'full sync, 1 % changed', 'full sync, no changes'].map(name => {
    const peakMb = Math.round(results.get(name)?.peakMb ?? 0);
    const hasGoal = records <= recordsInPeakMax;
    if (hasGoal && peakMb > peakMbMax) missed.push(`${name}, memory`);
    return `| ${name} | ${peakMb} | ${hasGoal ? `≤ ${peakMbMax}` : ''} |`;
  });
  return ['| peak of memory, MB | measured | goal |', '|---|--:|--:|', ...rows].join('\n');
}

function ratiosOf(results: ReadonlyMap<string, Measured>): string {
  const rows = goals.map(([name, over, goal, of = 'seconds']) => {
    const [one, other] = [results.get(name), results.get(over)];
    const what = `${name} / ${over}${of === 'cpuSeconds' ? ', processor time' : ''}`;
    if (one === undefined || other === undefined)
      return `| ${what} | not measured: ${over.includes('utils') ? 'sqlite-utils' : 'sqlite3'} is not installed | ≤ ${goal} |`;
    const ratio = one[of] / other[of];
    if (ratio > goal) missed.push(what);
    return `| ${what} | ${ratio.toFixed(2)} | ≤ ${goal} |`;
  });
  return ['| ratio | measured | goal |', '|---|--:|--:|', ...rows].join('\n');
}

/** Ratios that are worse than their goals; if there is one, the benchmark fails. */
const missed: string[] = [];

/** The greatest ratio of its time to the time of its waits. */
const latencyRatioMax = 1.1;

/** A first sync, which reads a list twice, against a service that takes 50 ms to answer: 2,000 pages of 50, 8 in flight. */
async function benchLatency(): Promise<string> {
  const [pages, latencyMs, concurrency] = [2_000, 50, 8];
  const server = await startServer(pages * 50, 50, latencyMs);
  try {
    const database = join(folder, 'latency.sqlite');
    const { seconds } = await sync(server, database, 50, [], { DOCMIRROR_CONCURRENCY: String(concurrency) });
    const least = (2 * pages * latencyMs) / 1000 / concurrency;
    const ratio = seconds / least;
    if (ratio > latencyRatioMax) missed.push('first sync at 50 ms');
    return `${seconds.toFixed(2)} s for ${pages} pages at ${latencyMs} ms, ${concurrency} in flight: ${ratio.toFixed(2)} × the least possible ${least} s for both readings (goal ≤ ${latencyRatioMax})`;
  } finally {
    server.child.kill();
  }
}

/** Processor time of docmirror as a multiple of the script's, for each order of references; no more than these. */
const ofScript: readonly [References, first: number, again: number][] = [
  ['at random', 0.85, 0.4],
  ['in order', 1.8, 0.5],
];

/** Compares with the script that a developer would write, in turns: the first time, and again with an unchanged list. */
async function benchScript(records: number, pageSize = 500): Promise<string> {
  const rows: string[] = [];
  for (const [references, ...goals] of ofScript) {
    const server = await startServer(records, pageSize, 0, references);
    const [ours, scripts] = [join(folder, 'ours.sqlite'), join(folder, 'scripts.sqlite')];
    const script = () =>
      measure(process.execPath, [join(here, 'peers', 'hand-written-script.ts'), server.url, scripts]);
    const all: Measured[][] = [[], [], [], []];
    for (let round = 0; round < rounds; round++) {
      for (const file of [ours, scripts])
        for (const end of ['', '-wal', '-shm', '.lock']) rmSync(file + end, { force: true });
      all[0]?.push(await sync(server, ours, pageSize, []));
      all[1]?.push(await script());
      all[2]?.push(await sync(server, ours, pageSize, ['--full']));
      all[3]?.push(await script());
    }
    server.child.kill();
    const [first, firstScript, again, againScript] = all.map(runs => medianOf(runs).cpuSeconds);
    const pairs = [
      ['first sync', first, firstScript, goals[0]],
      ['full sync, no changes', again, againScript, goals[1]],
    ] as const;
    for (const [what, our = 0, its = 1, goal] of pairs) {
      if (our / its > goal) missed.push(`${what} / script, references ${references}`);
      rows.push(
        `| ${what}, references ${references} | ${our.toFixed(2)} | ${its.toFixed(2)} | ${(our / its).toFixed(2)} | ≤ ${goal} |`,
      );
    }
  }
  return ['| processor seconds | docmirror | script | ratio | goal |', '|---|--:|--:|--:|--:|', ...rows].join(
    '\n',
  );
}

const records = Number(values.records);
const parts = [
  `Measured on ${new Date().toISOString().slice(0, 10)}: ${cpus().length} cores (${cpus()[0]?.model.trim()}), ${Math.round(totalmem() / 2 ** 30)} GiB, Node.js ${process.version}; medians of ${rounds} rounds, whole processes.`,
];
const pageSizes = values['only-script'] ? [] : values['page-sizes'].split(',').map(Number);
for (const pageSize of pageSizes) {
  const results = await bench(records, pageSize);
  parts.push(
    `## ${records.toLocaleString('en-US')} records, pages of ${pageSize}`,
    tableOf(records, results),
    ratiosOf(results),
    peaksOf(records, results),
  );
  process.stderr.write(`${parts.slice(-4).join('\n\n')}\n\n`);
}
parts.push('## Beside a script', await benchScript(records));
if (!values['only-script']) parts.push('## Latency', await benchLatency());
rmSync(folder, { recursive: true, force: true });
const text = `${parts.join('\n\n')}\n`;
process.stdout.write(text);
if (values.out !== undefined) writeFileSync(values.out, text);
if (missed.length > 0) {
  process.stderr.write(`Worse than their goals: ${missed.join('; ')}.\n`);
  process.exitCode = 1;
}
