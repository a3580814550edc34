import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import Database from 'better-sqlite3';
import { mainPath, programFolder, programPath } from './program.ts';

export interface CliOptions {
  /** All that the process gets besides `PATH`, `HOME`, `TZ`, and where Node keeps what it compiled. */
  env?: Record<string, string>;
  cwd?: string;
  /** Tells a command in the test's own process to stop. */
  signal?: AbortSignal;
  /** Called with each piece of the output of a command in the test's own process. */
  onOutput?: (text: string) => void;
  /** A process that takes longer is killed and its result is an error. */
  timeoutMs?: number;
  /** The folder of another program's package; the program of the sources is run if it is left out. */
  program?: string;
}

export interface CliResult {
  code: number | null;
  signal: NodeJS.Signals | null;
  stdout: string;
  stderr: string;
}

export interface RunningCli extends AsyncDisposable {
  readonly child: ChildProcess;
  readonly done: Promise<CliResult>;
}

/** Variables that Node itself reads when a process starts. */
const nodesOwn = /^(NODE_|TZ$)/;

/**
 * Runs docmirror in the process of the test, without a terminal, to its end. Variables that only a new process heeds get it one of
 * its own.
 */
export async function runCli(args: string[], options: CliOptions = {}): Promise<CliResult> {
  if (Object.keys(options.env ?? {}).some(name => nodesOwn.test(name))) return runProcess(args, options);
  const { cwd, program } = options;
  const path = program === undefined ? mainPath : join(program, programFolder, 'main.js');
  const { main } = (await import(/* @vite-ignore */ path)) as typeof import('../../src/commands/main.ts');
  await using _place = await inFolder(cwd ?? null);
  const [stdout, stderr] = [new Collected(options.onOutput), new Collected()];
  const code = await main(args, {
    environment: { ...inheritedEnv(), ...options.env },
    stdout,
    stderr,
    signal: options.signal ?? new AbortController().signal,
  });
  return { code, signal: null, stdout: stdout.text(), stderr: stderr.text() };
}

const root = process.cwd();
/** The folder that commands run in now, how many do, and what is called when none does any more. */
let folder = root;
let runningIn = 0;
const waiting: (() => void)[] = [];

/** Makes a folder the working folder of this process until disposal. A process has one: who needs another one waits. */
async function inFolder(cwd: string | null): Promise<AsyncDisposable> {
  if (cwd === null) return { [Symbol.asyncDispose]: async () => undefined };
  while (runningIn > 0 && folder !== cwd) await new Promise<void>(resolve => waiting.push(resolve));
  folder = cwd;
  process.chdir(folder);
  runningIn++;
  return {
    async [Symbol.asyncDispose]() {
      if (--runningIn > 0) return;
      process.chdir(root);
      for (const goOn of waiting.splice(0)) goOn();
    },
  };
}

/** Keeps what is written. */
class Collected extends Writable {
  readonly #chunks: Buffer[] = [];
  readonly #onText: (text: string) => void;

  constructor(onText: (text: string) => void = () => undefined) {
    super();
    this.#onText = onText;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: () => void): void {
    this.#chunks.push(chunk);
    this.#onText(chunk.toString());
    done();
  }

  text(): string {
    return Buffer.concat(this.#chunks).toString();
  }
}

/** Runs docmirror in a process of its own to its end: for tests whose subject is the process. */
export function runProcess(args: string[], options: CliOptions = {}): Promise<CliResult> {
  return spawnCli(args, options).done;
}

/** Starts docmirror in a process of its own; disposal kills it if it still runs. */
export function spawnCli(args: string[], options: CliOptions = {}): RunningCli {
  // Without `--`, Node itself looks for a file that `--env-file` names, also behind the script, and ends with 9 if there is none.
  const { program } = options;
  const path = program === undefined ? programPath : join(program, programFolder, 'cli.js');
  const child = spawn(process.execPath, ['--', path, ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...inheritedEnv(), ...options.env },
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  const result = Promise.all([once(child, 'close'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], stdout, stderr]): CliResult => ({ code, signal, stdout, stderr }),
  );
  const done = within(result, options.timeoutMs ?? 45_000, child, args);
  return {
    child,
    done,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await result;
    },
  };
}

async function within(result: Promise<CliResult>, ms: number, child: ChildProcess, args: string[]) {
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, ms);
  const ended = await result.finally(() => clearTimeout(timer));
  if (late) throw new Error(`docmirror ${args.join(' ')} took longer than ${ms} ms.\n${ended.stderr}`);
  return ended;
}

function inheritedEnv(): Record<string, string> {
  const entries = ['PATH', 'HOME', 'TZ', 'NODE_COMPILE_CACHE'].map(
    name => [name, process.env[name]] as const,
  );
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== undefined));
}

export interface TemporaryFolder extends AsyncDisposable {
  readonly path: string;
}

export function temporaryFolder(root = tmpdir()): TemporaryFolder {
  const path = mkdtempSync(join(root, 'docmirror-test-'));
  return {
    path,
    async [Symbol.asyncDispose]() {
      await rm(path, { recursive: true, force: true });
    },
  };
}

export type Row = Record<string, unknown>;

/** The rows of a query, on a read-only connection of its own. */
export function sqlite(path: string, sql: string, options: { safeIntegers?: boolean } = {}): Row[] {
  return sqliteEach(path, [sql], options)[0] ?? [];
}

/** The rows of each query, on one read-only connection: to open it and to read the schema takes longer than most queries. */
export function sqliteEach(
  path: string,
  queries: readonly string[],
  options: { safeIntegers?: boolean } = {},
): Row[][] {
  const database = new Database(path, { readonly: true, fileMustExist: true });
  const isSafe = options.safeIntegers === true;
  try {
    return queries.map(sql => database.prepare<[], Row>(sql).safeIntegers(isSafe).all());
  } finally {
    database.close();
  }
}

/** How many changes of each operation the feed of a list has: those of one run, or of all. */
export function feedOf(path: string, resource = 'document-exports', run?: number): Record<string, number> {
  const ofRun = run === undefined ? '' : `AND run_id = ${run}`;
  const rows = sqlite(
    path,
    `SELECT operation, count(*) AS n FROM changes WHERE resource = '${resource}' ${ofRun} GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ operation, n }) => [operation as string, n as number]));
}
