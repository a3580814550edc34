// Keeps mirrors of this version, which the next one must bring up to date. Each is made by the program itself:
// node test/support/keep-mirror.ts                           mirror-VERSION.sqlite.gz
// node test/support/keep-mirror.ts mirror-OLDER-X.sqlite.gz  that mirror, brought up to date and run, as mirror-VERSION-X.sqlite.gz
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import manifest from '../../package.json' with { type: 'json' };
import { makeOutgrownMirror } from './outgrown-mirror.ts';
import { runNode } from './program-copy.ts';
import { temporaryFolder } from './run-cli.ts';
import { make } from './scene.ts';
import {
  collection,
  documentExport,
  type SampleItem,
  type StandIn,
  startStandIn,
  webhook,
} from './stand-in.ts';

await using folder = temporaryFolder();
const database = join(folder.path, 'mirror.sqlite');

/** Runs a command on the mirror. Throws if it ends with a code that is not expected. */
async function docmirror(service: StandIn, codes: readonly number[], ...args: string[]): Promise<void> {
  const cli = join(import.meta.dirname, '../../src/cli.ts');
  const { code, stdout, stderr } = await runNode(folder.path, [cli, ...args], {
    DOCMIRROR_BASE_URL: service.url,
    DOCMIRROR_TOKEN: service.options.token,
    DOCMIRROR_DATABASE: database,
  });
  if (!codes.includes(code ?? -1)) throw new Error(`${args.join(' ')}: ${code}\n${stdout}${stderr}`);
}

/** Each kind of row, and a version whose text was erased. */
async function makeNew(): Promise<void> {
  const flags = ['--allow-mass-removal', '--give-up-after', '0', '--full-every'];
  await using mirror = await makeOutgrownMirror(database, (service, { fullEveryMs = 0 }) =>
    docmirror(service, [0, 3], 'sync', ...flags, `${fullEveryMs / 60_000}m`),
  );
  await docmirror(mirror.service, [0], 'erase', 'document-exports', '1');
  await docmirror(mirror.service, [0], 'sync');
}

/** Three runs over a mirror that an earlier version pruned: two change records, and one removes some. */
async function bringUpToDate(older: string): Promise<void> {
  writeFileSync(database, gunzipSync(readFileSync(join(import.meta.dirname, older))));
  await using service = await startStandIn({ maxPageSize: 20 });
  const { lists } = service;
  lists['document-exports'] = make(12, n => documentExport(n));
  lists.collections = make(7, n => collection(n));
  lists.webhooks = make(3, n => webhook(n));
  for (const at of [0, 1, 2]) {
    Object.assign(lists.collections[at] as SampleItem, { name: `In run ${at + 1} of ${manifest.version}` });
    if (at === 2) lists['document-exports'].splice(4, 2);
    await docmirror(service, [0], 'sync', '--full', '--accept-new-base-url');
  }
}

const [older] = process.argv.slice(2);
await (older === undefined ? makeNew() : bringUpToDate(older));
const sqlite = new Database(database);
sqlite.pragma('wal_checkpoint(TRUNCATE)');
const bytes = sqlite.serialize();
sqlite.close();
const name = (older ?? 'mirror-0.0.0.sqlite.gz').replace(/\d+\.\d+\.\d+/, manifest.version);
writeFileSync(join(import.meta.dirname, name), gzipSync(bytes, { level: 9 }));
