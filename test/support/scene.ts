import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { type CliResult, runCli, type TemporaryFolder, temporaryFolder } from './run-cli.ts';
import {
  collection,
  documentExport,
  type StandIn,
  type StandInOptions,
  startStandIn,
  webhook,
} from './stand-in.ts';

/** A service, a folder with a mirror to be, and the command line that joins them. */
export interface Scene extends AsyncDisposable {
  readonly service: StandIn;
  readonly folder: string;
  readonly database: string;
  readonly env: Record<string, string>;
  /** The folder of the program that runs, if it is not that of the sources. */
  readonly program?: string;
  run(...args: string[]): Promise<CliResult>;
  sync(...args: string[]): Promise<Synced>;
}

export interface SyncedResource {
  readonly [field: string]: unknown;
  readonly status: string;
  readonly completeness: string | null;
  readonly requests: number;
}

/** The output of `sync --json`. */
export interface Synced {
  readonly code: number | null;
  readonly status: string;
  readonly stderr: string;
  readonly summary: Record<string, unknown>;
  of(resource: string): SyncedResource;
}

export interface Sizes {
  readonly exports?: number;
  readonly collections?: number;
  readonly webhooks?: number;
}

/** Sets a scene: a service with some records, without a mirror. */
export async function setScene(options: Partial<StandInOptions> = {}, sizes: Sizes = {}): Promise<Scene> {
  const service = await startStandIn(options);
  const folder = temporaryFolder();
  service.lists['document-exports'] = make(sizes.exports ?? 130, documentExport);
  service.lists.collections = make(sizes.collections ?? 7, collection);
  service.lists.webhooks = make(sizes.webhooks ?? 3, webhook);
  return sceneIn(folder, service, () => service.close());
}

/**
 * A scene that others can begin from: each gets a folder of its own with a copy of the mirror, and the service with its
 * lists and options as they are now. They have one service, so a test must end before the next one begins.
 */
export function startingFrom({ service, database }: Scene): () => Scene {
  const lists = structuredClone(service.lists);
  const options = { ...service.options };
  return () => {
    const folder = temporaryFolder();
    copyFileSync(database, join(folder.path, 'mirror.sqlite'));
    Object.assign(service, { lists: structuredClone(lists), requests: [], onRequest: undefined });
    Object.assign(service.options, options);
    return sceneIn(folder, service, async () => undefined);
  };
}

/** The same scene with another program, whose package is in a folder. */
export function withProgram(scene: Scene, program: string): Scene {
  const run = (...args: string[]) => runCli(args, { env: scene.env, cwd: scene.folder, program });
  const sync = async (...args: string[]) => toSynced(await run('sync', '--json', ...args));
  return { ...scene, program, run, sync };
}

function sceneIn(folder: TemporaryFolder, service: StandIn, close: () => Promise<void>): Scene {
  const database = join(folder.path, 'mirror.sqlite');
  const env = {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: service.options.token,
    DOCMIRROR_DATABASE: database,
    DOCMIRROR_LOG_LEVEL: 'warn',
  };
  // Files that a command names itself are removed with the scene.
  const run = (...args: string[]) => runCli(args, { env, cwd: folder.path });
  return {
    service,
    folder: folder.path,
    database,
    env,
    run,
    sync: async (...args) => toSynced(await run('sync', '--json', ...args)),
    async [Symbol.asyncDispose]() {
      await close();
      await folder[Symbol.asyncDispose]();
    },
  };
}

export function make<T>(count: number, one: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, at) => one(at + 1));
}

function toSynced({ code, stdout, stderr }: CliResult): Synced {
  const summary: Record<string, unknown> = stdout === '' ? { resources: [] } : JSON.parse(stdout);
  const resources = summary.resources as SyncedResource[];
  return {
    code,
    stderr,
    status: summary.status as string,
    summary,
    of(resource) {
      const found = resources.find(entry => entry.resource === resource);
      if (found === undefined) throw new Error(`no ${resource} in the summary; standard error: ${stderr}`);
      return found;
    },
  };
}
