// Keeps a mirror of this version, which every later one must bring up to date: node test/support/keep-mirror.ts
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import manifest from '../../package.json' with { type: 'json' };
import { makeOutgrownMirror } from './outgrown-mirror.ts';
import { temporaryFolder } from './run-cli.ts';

await using folder = temporaryFolder();
const path = join(folder.path, 'mirror.sqlite');
await using _mirror = await makeOutgrownMirror(path);
const sqlite = new Database(path);
sqlite.pragma('wal_checkpoint(TRUNCATE)');
const bytes = sqlite.serialize();
sqlite.close();
rmSync(path);
writeFileSync(
  join(import.meta.dirname, `mirror-${manifest.version}.sqlite.gz`),
  gzipSync(bytes, { level: 9 }),
);
