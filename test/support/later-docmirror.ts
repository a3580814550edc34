import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { programFolder } from './program.ts';
import { type TemporaryFolder, temporaryFolder } from './run-cli.ts';

const root = join(import.meta.dirname, '../..');

/** The version of the program that `laterDocmirror` makes. */
export const laterVersion = '99.0.0';

/** Makes the tests' program with one more migration, as the next release has one: all mirrors of the sources are older to it. */
export function laterDocmirror(): TemporaryFolder {
  const folder = temporaryFolder();
  for (const name of [programFolder, 'migrations', 'package.json'])
    cpSync(join(root, name), join(folder.path, name), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(folder.path, 'node_modules'));
  const edit = (name: string, change: (value: Record<string, unknown>) => object) => {
    const path = join(folder.path, name);
    writeFileSync(path, JSON.stringify(change(JSON.parse(readFileSync(path, 'utf8')))));
  };
  edit('package.json', manifest => ({ ...manifest, version: laterVersion }));
  edit('migrations/meta/_journal.json', ({ entries, ...journal }) => {
    const migrations = entries as { readonly idx: number; readonly when: number }[];
    const newest = migrations.at(-1);
    const later = { ...newest, idx: migrations.length, when: (newest?.when ?? 0) + 1, tag: 'later' };
    return { ...journal, entries: [...migrations, later] };
  });
  writeFileSync(join(folder.path, 'migrations/later.sql'), 'ALTER TABLE sync_runs ADD later text;\n');
  return folder;
}
