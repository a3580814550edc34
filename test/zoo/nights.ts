import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expectSound, mirrored } from '../support/oracle.ts';
import { type CliResult, runProcess, temporaryFolder } from '../support/run-cli.ts';
import type { SyncedResource } from '../support/scene.ts';
import { Database, type ListName, type Records } from './database.ts';
import { debianServices, startDebianService } from './debian.ts';
import type { ServiceSettings } from './service.ts';

/** A service of the zoo: a file of `services`, and how it is set. */
export interface Choice {
  readonly framework: string;
  readonly isOrderedByTimeAlone?: boolean;
  readonly variant?: string;
}

export const nightNames = ['first', 'same', 'edits', 'new exports', 'busy', 'quiet'] as const;
export type NightName = (typeof nightNames)[number];

/** A run of docmirror, and what it made of each list. */
export interface Night {
  readonly name: NightName;
  readonly run: CliResult;
  readonly lists: Readonly<Record<ListName, ListNight>>;
}

/** What a run said of a list, and what the database says. Records are JSON, as in `Records`. */
export interface ListNight {
  readonly said: SyncedResource;
  /** How many records the list has after the run. */
  readonly count: number;
  /** Records that were listed during the whole run, and that the mirror lacks. */
  readonly missing: readonly string[];
  /** Rows of the mirror whose record did not change during the run, and is not listed so. */
  readonly extra: readonly string[];
  /** The keys of the records that were listed during the whole run, and of which the mirror has no row. */
  readonly absent: readonly string[];
  /** Those of them of which it had one. */
  readonly lost: readonly string[];
  /** How many rows had another text before the run than the list; null if the list changed during the run. */
  readonly changed: number | null;
}

const editCount = 60;
const newExportCount = 25;
/** Five changes a second, at ten requests a second. */
const changeEveryMs = 200;
const busyRequestsPerSecond = 10;
const runWithinMs = 90_000;

/** Starts a service with a database of its own, and has docmirror mirror it in six nights. */
export async function playNights(socketFolder: string, choice: Choice): Promise<Night[]> {
  const { framework, isOrderedByTimeAlone = false, variant = null } = choice;
  await using database = await Database.create(socketFolder, nameOf(choice));
  const settings = { socketFolder, database: database.name, isOrderedByTimeAlone, variant };
  await using service = await Service.start(framework, settings);
  await using folder = temporaryFolder();
  const mirror = join(folder.path, 'mirror.sqlite');
  const env = {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: 'any',
    DOCMIRROR_DATABASE: mirror,
    DOCMIRROR_LOG_LEVEL: 'warn',
    DOCMIRROR_GIVE_UP_AFTER: '20s',
  };
  const nights: Night[] = [];
  let had: Records = { 'document-exports': [], collections: [], webhooks: [] };
  for (const name of nightNames) {
    await database.beginNight();
    if (name === 'edits') await database.change(editCount);
    if (name === 'new exports') await database.grow(newExportCount);
    const before = await database.records();
    const others = name === 'busy' ? new Others(database) : null;
    const run = await runProcess(['sync', '--json', ...flagsOf(name)], {
      env,
      timeoutMs: runWithinMs,
    }).finally(() => others?.stop());
    const after = await database.records();
    const has = recordsOf(mirror);
    const of = (list: ListName): ListNight => ({
      said: outcomeOf(run, list),
      count: after[list].length,
      ...comparison(list, { before: before[list], after: after[list], had: had[list], has: has[list] }),
    });
    nights.push({
      name,
      run,
      lists: {
        'document-exports': of('document-exports'),
        collections: of('collections'),
        webhooks: of('webhooks'),
      },
    });
    had = has;
  }
  expectSound(mirror);
  return nights;
}

/** The name of a choice, which is also that of its database. */
export function nameOf({ framework, isOrderedByTimeAlone = false, variant }: Choice): string {
  if (variant !== undefined) return `${framework}, ${variant}`;
  return `${framework}, ${isOrderedByTimeAlone ? 'by time alone' : 'newest first'}`;
}

function flagsOf(name: NightName): readonly string[] {
  if (name === 'new exports') return [];
  return name === 'busy' ? ['--full', '--max-requests-per-second', `${busyRequestsPerSecond}`] : ['--full'];
}

/** A process with a service in it. */
class Service implements AsyncDisposable {
  readonly url: string;
  readonly #end: () => Promise<unknown>;

  static async start(framework: string, settings: ServiceSettings): Promise<Service> {
    const debian = debianServices[framework];
    if (debian === undefined) return Service.#startHere(framework, settings);
    const { url, end } = await startDebianService(debian, settings);
    return new Service(url, end);
  }

  /** Starts one that is written for Node.js. */
  static async #startHere(framework: string, settings: ServiceSettings): Promise<Service> {
    const path = fileURLToPath(new URL(`./services/${framework}.ts`, import.meta.url));
    const child = fork(path, [JSON.stringify(settings)], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    const ended = once(child, 'exit');
    const early = ended.then(() => {
      throw new Error(`the service ${framework} did not start`);
    });
    const [port] = await Promise.race([once(child, 'message'), early]);
    early.catch(() => undefined);
    return new Service(`http://127.0.0.1:${port}`, () => {
      child.kill('SIGKILL');
      return ended;
    });
  }

  private constructor(url: string, end: () => Promise<unknown>) {
    this.url = url;
    this.#end = end;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end();
  }
}

/** People who change records until they are stopped. */
class Others {
  readonly #stopped = new AbortController();
  readonly #done: Promise<void>;

  constructor(database: Database) {
    this.#done = this.#work(database);
  }

  async #work(database: Database): Promise<void> {
    while (!this.#stopped.signal.aborted) {
      await database.change(1);
      await sleep(changeEveryMs);
    }
  }

  stop(): Promise<void> {
    this.#stopped.abort();
    return this.#done;
  }
}

function recordsOf(mirror: string): Records {
  return {
    'document-exports': mirrored(mirror, 'document-exports').map(withTimeInUtc).sort(),
    collections: mirrored(mirror, 'collections'),
    // The order of a webhook's events and connections means nothing.
    webhooks: mirrored(mirror, 'webhooks').map(withSortedArrays).sort(),
  };
}

/** Frameworks write one instant in several ways. */
function withTimeInUtc(record: string): string {
  const values: string[] = JSON.parse(record);
  return JSON.stringify(values.with(-1, new Date(values.at(-1) ?? '').toISOString()));
}

function withSortedArrays(record: string): string {
  const values: unknown[] = JSON.parse(record);
  return JSON.stringify(values.map(value => (Array.isArray(value) ? sorted(value) : value)));
}

function sorted(values: readonly unknown[]): unknown[] {
  return values.toSorted((a, b) =>
    typeof a === 'number' && typeof b === 'number' ? a - b : `${a}` < `${b}` ? -1 : 1,
  );
}

function outcomeOf({ stdout, stderr }: CliResult, list: ListName): SyncedResource {
  const { resources }: { resources: readonly SyncedResource[] } = JSON.parse(stdout || '{"resources":[]}');
  const found = resources.find(({ resource }) => resource === list);
  if (found === undefined) throw new Error(`the run says nothing of ${list}: ${stdout}${stderr}`);
  return found;
}

/** A list before and after a run, and the rows that the mirror had and has. */
type Sides = Readonly<Record<'before' | 'after' | 'had' | 'has', readonly string[]>>;

function comparison(list: ListName, { before, after, had, has }: Sides) {
  const keysOf = (records: readonly string[]) => records.map(record => keyOf(list, record));
  const always = without(before, without(before, after));
  // If a service asks for a record's parts one by one, a page can have some of before a change, and some of after it.
  const moved = new Set(keysOf([...without(before, after), ...without(after, before)]));
  const [hadKeys, hasKeys] = [new Set(keysOf(had)), new Set(keysOf(has))];
  const absent = keysOf(always).filter(key => !hasKeys.has(key));
  return {
    missing: without(always, has),
    extra: without(has, always).filter(record => !moved.has(keyOf(list, record))),
    absent,
    lost: absent.filter(key => hadKeys.has(key)),
    changed:
      moved.size > 0 ? null : without(after, had).filter(record => hadKeys.has(keyOf(list, record))).length,
  };
}

/** An id, or the reference of an export. */
function keyOf(list: ListName, record: string): string {
  return String(JSON.parse(record)[list === 'document-exports' ? 2 : 0]);
}

/** The texts of the first list, each as often as the second one lacks it. */
function without(texts: readonly string[], others: readonly string[]): string[] {
  const left = Map.groupBy(others, text => text);
  return texts.filter(text => left.get(text)?.pop() === undefined);
}
